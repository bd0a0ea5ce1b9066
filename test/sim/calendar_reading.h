// Which moments an entry with calendars plans: the simulator's own reading of docs/calendars.md, which looks at one
// local time after the other and at each of its days by itself. It shares the spelling of entries and days and the
// next match of a cron with the leader, nothing else. Zones are those of sim_zones.h: none changes its offset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/calendar.h"
#include "common/model/day_text.h"
#include "common/model/schedule_entry.h"
#include "master/core/time/cron.h"

namespace rota::sim {

/// Where a moment comes from.
enum class Planned { OnItsDay, MovedOn, MovedBack, WorkingDay };

/// One version of a calendar.
class CalendarSays {
 public:
  enum class Day { Open, Closed, Nothing };

  static Result<CalendarSays> of(const model::CalendarRow& row);
  WallTime from() const { return from_; }
  Day on(std::int64_t day) const;
  /// That moment lies in the hours of this day.
  bool is_in_hours(std::int64_t day, WallTime at) const;

 private:
  struct Hours {
    model::DayRange days;
    model::ClockRange open;
  };
  WallTime from_{};
  unsigned weekdays_ = 0;
  std::vector<model::DayRange> include_, exclude_;
  std::vector<Hours> hours_;
  std::optional<model::DayRange> covers_;
  bool holds_ = false;
  Millis ahead_{0};                      ///< of UTC, by its zone
};

/// Thread: one.
class EntryReading {
 public:
  /// `calendars`: the versions of each calendar that it names, oldest first, none empty.
  static Result<EntryReading> of(model::ScheduleEntry entry, std::vector<std::vector<CalendarSays>> calendars,
                                 WallTime anchor, std::uint64_t job_hash);

  using Found = std::function<void(WallTime, Planned)>;
  /// Each moment in (after, through], some perhaps twice.
  void plan(WallTime after, WallTime through, const Found& found) const;
  /// Each moment in (after, through] that an edit took away: the version before it has a logical time there, behind
  /// the edit, and the edit's own has it before. So it fires by neither.
  void plan_edited_away(WallTime after, WallTime through, const std::function<void(WallTime)>& found) const;
  /// By the versions in force at that moment.
  bool is_open(WallTime at) const;
  const model::ScheduleEntry& entry() const { return entry_; }
  /// Of those in (after, through]: how many moments of the cron or the rate fall on a closed time and are skipped.
  std::int64_t left_out(WallTime after, WallTime through) const;
  /// How many edits in (after, through] count from a moment of the cron or the rate on, and change what that does.
  std::int64_t decided_at_edit(WallTime after, WallTime through) const;

 private:
  using Versions = std::vector<CalendarSays>;
  /// The versions in force at one moment, of each calendar one.
  using InForce = std::vector<const CalendarSays*>;

  std::vector<WallTime> own_times(WallTime after, WallTime through) const;
  bool has_none_on_any_day(WallTime after, WallTime through) const;
  void plan_moved(WallTime after, WallTime through, const Found& found) const;
  void plan_working_days(WallTime after, WallTime through, const Found& found) const;
  /// A logical time under the versions that are in force when it is planned, or under these alone. `known`: by edits
  /// that count until then.
  using Place = std::function<std::optional<WallTime>(const InForce* alone, WallTime known)>;

  std::optional<WallTime> placed(WallTime own, WallTime known = WallTime::max()) const;
  std::optional<WallTime> walked(WallTime own, const InForce* fixed, WallTime known = WallTime::max()) const;
  std::optional<WallTime> working_day(std::int64_t first, std::int64_t last, WallTime known = WallTime::max()) const;
  std::optional<WallTime> nth_open(std::int64_t first, std::int64_t last, const InForce& versions) const;
  std::vector<WallTime> edited_away(const Place& place) const;
  InForce in_force(WallTime at) const;
  bool is_open(WallTime at, const InForce& versions) const;
  bool is_held(WallTime at, const InForce& versions) const;
  bool is_between(WallTime at) const;
  std::int64_t day_of(WallTime at) const;
  std::vector<WallTime> switches(WallTime known = WallTime::max()) const;

  model::ScheduleEntry entry_;
  std::vector<Versions> calendars_;
  WallTime anchor_{};
  Millis ahead_{0};
  model::ClockRange between_;
  master::core::CronExpression cron_;
  master::core::CronExpression every_day_;  ///< the same times on all days
  mutable std::map<std::int64_t, std::optional<WallTime>> working_days_;  ///< by the first day of the month
  mutable std::map<std::int64_t, std::vector<WallTime>> working_days_edited_away_;
};

}  // namespace rota::sim
