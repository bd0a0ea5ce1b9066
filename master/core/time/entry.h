// One entry of a schedule, compiled: asked for its next tick, through
// calendars, hours, versions and zones. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/entry_rules.h"
#include "common/model/schedule_entry.h"
#include "master/core/time/cron.h"
#include "master/core/time/day_rules.h"
#include "master/core/time/edited_away.h"

namespace rota::master::core {

/// Times are whole milliseconds.
inline constexpr Millis kSmallestStep{1};
using model::kLongestJitter;

/// What an entry names, looked up by whoever compiles it.
struct EntryParts {
  std::shared_ptr<const model::ZoneRules> zone;
  std::vector<CalendarHistory> calendars;  ///< in the order of ScheduleEntry::calendars, none empty
};

/// Thread: constant after construction.
class CompiledEntry {
 public:
  /// The first tick strictly after `after`, within start and end; empty when
  /// there is none before 2200.
  std::optional<WallTime> next_after(WallTime after) const;
  /// The first moment strictly after `after` that an edit of its calendars took away: its logical time fires
  /// neither by the version before the edit nor by that behind it (edited_away.h). Empty: there is none.
  std::optional<WallTime> next_edited_away(WallTime after) const;
  /// How many lie in (after, through], at most `limit`.
  std::int64_t count_between(WallTime after, WallTime through, std::int64_t limit) const;
  /// AfterEnd: when it is due after a run that ended then. Outside of its hours
  /// and of the days that its calendars open this is the moment at which they
  /// open again.
  std::optional<WallTime> due_after_end(WallTime ended) const;

  /// Between its start and end.
  bool is_valid_at(WallTime at) const { return (!start_ || *start_ <= at) && (!end_ || at <= *end_); }

  bool fires_often() const;
  /// It is known, and takes no search, that nothing fires after that moment. Else there is a search.
  bool is_silent_after(WallTime moment) const { return silent_from_ && moment >= *silent_from_; }
  const std::string& name() const { return name_; }
  const std::shared_ptr<const model::ZoneRules>& zone() const { return zone_; }
  model::EntryKind kind() const { return kind_; }
  Millis jitter() const { return jitter_; }
  Millis interval() const { return interval_; }
  /// By its calendars or hours some of its ticks do not fire, or on other days.
  bool has_rules() const { return !days_.is_empty() || has_between_; }

 private:
  friend Result<CompiledEntry> compile_entry(const model::ScheduleEntry&, const EntryParts&, WallTime,
                                             std::uint64_t);

  std::optional<WallTime> next_unbounded(WallTime after) const;
  std::optional<WallTime> next_cron(WallTime after) const;
  std::optional<WallTime> next_working_day(WallTime after) const;
  std::optional<WallTime> next_rate(WallTime after) const;
  std::optional<WallTime> moved_once() const;
  WallTime moment_of_moved(std::int64_t local_ms) const;
  void find_edited_away();
  void find_silence(const EntryParts& parts);
  WallTime on_grid(WallTime after) const;

  model::EntryKind kind_ = model::EntryKind::At;
  std::string name_;
  std::shared_ptr<const CronExpression> cron_;
  std::shared_ptr<const model::ZoneRules> zone_;
  DayRules days_;
  std::vector<model::ClockRange> between_;
  bool has_between_ = false;
  bool is_as_quartz_ = false;
  model::Otherwise otherwise_ = model::Otherwise::Skip;
  model::SkippedTime skipped_time_ = model::SkippedTime::RunAtEnd;
  model::RepeatedTime repeated_time_ = model::RepeatedTime::First;
  Millis interval_{0};
  WallTime anchor_{};
  int working_day_ = 0;
  std::int64_t clock_ms_ = 0;
  Millis jitter_{0};
  std::optional<WallTime> start_;
  std::optional<WallTime> end_;
  std::optional<WallTime> silent_from_;  ///< nothing fires after it, by the versions in force from then on
  std::vector<DayPart> edited_away_;            ///< Cron, WorkingDay
  std::vector<WallTime> edited_away_once_;      ///< At; in order
};

/// `anchor`: of a fixed rate without a start, whose first tick comes one
/// interval later. `hash`: of the job. InvalidArgument with all that
/// entry_problems says.
Result<CompiledEntry> compile_entry(const model::ScheduleEntry& entry, const EntryParts& parts,
                                    WallTime anchor, std::uint64_t hash);

/// All that is wrong with an entry by itself, as sentences for people; empty
/// when it is fine. Zone and calendars are not looked up.
std::vector<std::string> entry_problems(const model::ScheduleEntry& entry);

}  // namespace rota::master::core
