// A calendar ready to be asked whether a day is a working day. Pure.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/model/calendar.h"
#include "common/model/day_text.h"
#include "common/model/zone.h"
#include "master/core/time/day_set.h"

namespace rota::master::core {

/// Held: beyond what the calendar covers, where it says nothing.
enum class DayAnswer { Open, Closed, Held };

/// Thread: constant after construction.
class CompiledCalendar {
 public:
  DayAnswer on(model::Day day) const;
  /// The days that are open through 2199.
  const DaySet& open() const { return open_; }
  /// The first day at or after `day` that is open; empty when there is none
  /// before the year 2200.
  std::optional<model::Day> next_open(model::Day day) const;
  /// On an open day that is shorter: when, in the calendar's own zone.
  const model::ClockRange* hours(model::Day day) const;
  bool has_hours() const { return !hours_.empty(); }
  /// The last day through which `hours` answers as on that one; empty: there is no such limit.
  std::optional<model::Day> same_hours_through(model::Day day) const;
  const model::ZoneRules& zone() const { return *zone_; }
  const std::string& name() const { return name_; }
  /// No day after it can be open; empty: there is no such limit.
  std::optional<model::Day> last_day() const;
  std::optional<model::DayRange> covers() const { return covers_; }

 private:
  friend Result<CompiledCalendar> compile_calendar(const model::Calendar&,
                                                   std::shared_ptr<const model::ZoneRules>);
  struct Hours {
    model::DayRange days;
    model::ClockRange open;
  };

  std::string name_;
  std::shared_ptr<const model::ZoneRules> zone_;
  unsigned weekdays_ = 0x7f;  ///< bit 0: Sunday
  DaySet open_;
  std::vector<Hours> hours_;  ///< in order
  std::optional<model::DayRange> covers_;
  bool holds_beyond_ = false;
};

using CalendarPtr = std::shared_ptr<const CompiledCalendar>;

/// InvalidArgument names the key and what is wrong with it.
Result<CompiledCalendar> compile_calendar(const model::Calendar& calendar,
                                          std::shared_ptr<const model::ZoneRules> zone);

}  // namespace rota::master::core
