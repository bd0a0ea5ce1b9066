// Where the calendars of one entry let its times fall: this folder's own reading of them. It looks at each
// day by itself, and at each version of each calendar by its texts; it shares the spelling of days with the
// leader and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/calendar.h"
#include "common/model/day_text.h"
#include "common/model/schedule_entry.h"
#include "common/model/zone.h"
#include "master/store/zone_source.h"

namespace rota::master::verify {

/// All versions that were stored under a namespace and a name, oldest first.
using CalendarRows = std::function<Result<std::vector<model::CalendarRow>>(const std::string& space,
                                                                          const std::string& name)>;

/// Milliseconds by which the zone is ahead of UTC at that moment.
std::int64_t zone_offset_ms(const model::ZoneRules& zone, std::int64_t utc_ms);

/// Thread: constant after construction.
class CalendarDays {
 public:
  /// As they count for a job version that is valid from that moment. Corrupt when one cannot be read, or
  /// there is none.
  static Result<CalendarDays> of(const model::ScheduleEntry& entry, const std::string& space,
                                 const model::ZonePtr& zone, const CalendarRows& rows,
                                 const store::ZoneSource& zones, WallTime valid_from);

  bool empty() const { return calendars_.empty(); }
  /// Whether something may fall on another day than its own.
  bool moves() const { return otherwise_ != model::Otherwise::Skip; }
  /// The local time at which that one is planned; empty: it is not.
  std::optional<std::int64_t> placed(std::int64_t local_ms) const;
  /// Where all times of one day fall.
  struct WholeDay {
    std::optional<std::int64_t> there;  ///< empty: nowhere
  };
  /// Empty: they do not fall alike, each is to be asked for by itself (placed). Days since 1970, local.
  std::optional<WholeDay> whole_day(std::int64_t day) const;
  /// The n-th working day of a month (days since 1970), at a time of day.
  std::optional<std::int64_t> working_day(std::int64_t first, std::int64_t last, int nth,
                                          std::int64_t clock_ms) const;

  // A logical time falls between two versions when the older one plans it behind the edit, and the newer one
  // before it, and no version that is in force until then lets it fire. It must stand in a gap at the moment
  // that the older one had for it. Those moments, of what the functions above place:
  std::vector<std::int64_t> edited_away(std::int64_t local_ms) const;
  std::vector<std::int64_t> working_day_edited_away(std::int64_t first, std::int64_t last, int nth,
                                                    std::int64_t clock_ms) const;
  /// Whether versions say different things of that day, or of one to which its times may be moved.
  bool is_edited_near(std::int64_t day) const;
  /// When versions came into force that replaced others, in local time.
  std::vector<std::int64_t> edits() const;

 private:
  struct Hours {
    model::DayRange days;
    model::ClockRange open;
  };
  struct Version {
    std::int64_t from_ms = 0;  ///< local time of the entry
    std::vector<model::DayRange> include, exclude;
    std::vector<Hours> hours;
    unsigned weekdays = 0;
    std::optional<model::DayRange> covers;
    bool holds = false;
    model::ZonePtr zone;
  };
  enum class Says { Open, Closed, Nothing };
  using Versions = std::vector<Version>;

  static Result<Version> read(const model::CalendarRow& row, const model::ZoneRules& zone,
                              const store::ZoneSource& zones);
  static Says says(const Version& version, model::Day day);
  static std::optional<Hours> hours_on(const Version& version, model::Day day);
  static const Version& in_force(const Versions& versions, std::int64_t local_ms);
  bool is_open(std::int64_t local_ms, std::int64_t in_force_at) const;
  bool is_in_hours(const Version& version, std::int64_t local_ms) const;
  bool is_held(std::int64_t day, std::optional<std::int64_t> in_force_at) const;
  bool is_edited_between(std::int64_t from_ms, std::int64_t to_ms) const;
  std::optional<std::int64_t> walk(std::int64_t local_ms, std::optional<std::int64_t> in_force_at) const;
  std::optional<std::int64_t> working_day_by(std::int64_t first, std::int64_t last, int nth,
                                             std::int64_t clock_ms, std::int64_t in_force_at) const;
  std::vector<std::int64_t> stretches() const;
  CalendarDays until(std::int64_t local_ms) const;
  template <typename Place, typename PlaceBy>
  std::vector<std::int64_t> between_versions(const Place& place, const PlaceBy& place_by) const;

  std::vector<Versions> calendars_;
  model::ZonePtr zone_;
  model::Otherwise otherwise_ = model::Otherwise::Skip;
  int day_ = 0;
};

}  // namespace rota::master::verify
