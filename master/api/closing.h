// What the calendars of one entry of a schedule do to a moment that it names.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/schedule_entry.h"
#include "common/model/zone.h"
#include "master/core/time/calendar_source.h"

namespace rota::master::api {

/// The day of a local time.
inline model::Day day_of(std::int64_t local_ms) {
  return model::Day{std::chrono::floor<std::chrono::days>(Millis{local_ms})};
}

/// A moment that is closed.
struct Closed {
  std::size_t calendar = 0;                          ///< which of the entry's says so first
  std::size_t version = 0;                           ///< which one of that calendar's history
  model::Day day{};                                  ///< that was asked for
  core::DayAnswer answer = core::DayAnswer::Closed;  ///< Open: outside of its hours
  std::optional<std::int64_t> moved_to;              ///< local time; empty: it is skipped
};

/// Thread: constant after construction.
class Closing {
 public:
  /// Of an entry that names calendars; their histories in its order.
  Closing(model::ScheduleEntry entry, model::ZonePtr zone, std::vector<core::CalendarHistory> calendars);

  /// Empty: it is open then.
  std::optional<Closed> closed_at(WallTime moment) const;
  /// "2026-12-25 (beyond what it covers), moved to 2026-12-28"
  std::string words_for(const Closed& closed) const;
  const core::CalendarVersion& version_of(const Closed& closed) const {
    return calendars_[closed.calendar][closed.version];
  }

 private:
  bool is_outside_of_hours(const core::CompiledCalendar& calendar, model::Day asked,
                           std::int64_t local) const;

  model::ScheduleEntry entry_;
  model::ZonePtr zone_;
  std::vector<core::CalendarHistory> calendars_;
  core::DayRules days_;
};

}  // namespace rota::master::api
