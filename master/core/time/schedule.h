// When a job is due: a schedule compiled once, then asked for its next tick. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/zone.h"
#include "master/core/time/calendar_source.h"
#include "master/core/time/cron.h"
#include "master/core/time/entries.h"

namespace rota::master::core {

using model::ZonePtr;

/// A schedule ready to be asked. Thread: constant after construction.
class CompiledSchedule {
 public:
  CompiledSchedule() = default;  ///< never fires

  /// The first tick strictly after `after`, within start and end; empty when there is none.
  std::optional<WallTime> next_after(WallTime after) const;

  /// The first moment strictly after `after`, within start and end, that an edit of a calendar took away
  /// (edited_away.h), and that is no tick. It stands in a gap.
  std::optional<WallTime> next_edited_away(WallTime after) const;
  /// The first moment strictly after `after` that is one or the other.
  std::optional<WallTime> next_recorded(WallTime after) const;

  /// How many ticks lie in (after, through], at most `limit`. Arithmetic, except for the days on
  /// which a cron's zone changes.
  std::int64_t count_between(WallTime after, WallTime through,
                             std::int64_t limit = INT64_MAX) const;

  /// The last tick in (after, through]; cheap however long that time is, unless the ticks are few.
  std::optional<WallTime> last_between(WallTime after, WallTime through) const;

  /// Every 30 s or sooner, at times at least: its next tick comes while a huge moment is being recorded.
  bool fires_often() const;

  model::ScheduleKind kind() const { return kind_; }

  /// The calendars that its entries name, each once, in their order.
  const std::vector<std::string>& calendars() const { return calendars_; }
  /// Its entries; null unless that is its kind.
  const CompiledEntries* entries() const {
    return kind_ == model::ScheduleKind::Entries ? static_cast<const CompiledEntries*>(compiled_.get())
                                                 : nullptr;
  }
  /// The names of the entries that are due at this tick, separated by commas.
  std::string names_at(WallTime tick) const;
  /// The names of the entries that fire for a start of a worker that is accepted then; empty: none does.
  std::string names_at_start(WallTime at) const;
  /// It has an entry `@worker_start`.
  bool has_worker_start() const;
  /// The entry that is due some time after the end of the last run; null: it has none.
  const CompiledEntry* after_end() const;

 private:
  friend Result<CompiledSchedule> compile(const model::Schedule&, const model::Zones&, WallTime,
                                          std::uint64_t, const CalendarSource&);

  const CronExpression& cron() const { return *static_cast<const CronExpression*>(compiled_.get()); }

  std::optional<WallTime> next_unbounded(WallTime after) const;
  std::optional<WallTime> next_fixed_rate(WallTime after) const;

  model::ScheduleKind kind_ = model::ScheduleKind::None;
  /// A CronExpression or CompiledEntries, by the kind; shared by copies of this schedule.
  std::shared_ptr<const void> compiled_;
  std::vector<std::string> calendars_;
  ZonePtr zone_;
  model::SkippedTime skipped_time_ = model::SkippedTime::RunAtEnd;
  model::RepeatedTime repeated_time_ = model::RepeatedTime::First;
  Millis interval_{0};
  WallTime anchor_{};
  std::optional<WallTime> start_;
  std::optional<WallTime> end_;
};

/// The calendars that its entries name, each once, in their order. What cannot be read names none.
std::vector<std::string> calendars_of(const model::Schedule& schedule);

/// Compiles a schedule. Zones are needed for crons and entries only. `hash` is the job's (cron_hash.h).
/// Tick k of a fixed rate is at anchor + k * interval; the anchor itself is a tick when `start` is given,
/// else the first tick is one interval later. InvalidArgument as validate_schedule says, and for a calendar
/// that `calendars` does not know.
Result<CompiledSchedule> compile(const model::Schedule& schedule, const model::Zones& zones, WallTime anchor,
                                 std::uint64_t hash = 0, const CalendarSource& calendars = {});

/// All that is wrong with a schedule, as sentences for people; empty when it is fine. Whether the
/// zone exists is not known here.
std::vector<std::string> validate_schedule(const model::Schedule& schedule);

}  // namespace rota::master::core
