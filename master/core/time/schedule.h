// When a job is due: a schedule compiled once, then asked for its next tick. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/zone.h"
#include "master/core/time/cron.h"

namespace rota::master::core {

/// Shared ownership of the rules: thousands of jobs name the same zone.
using ZonePtr = std::shared_ptr<const model::ZoneRules>;

/// A schedule ready to be asked. Thread: constant after construction.
class CompiledSchedule {
 public:
  CompiledSchedule() = default;  ///< never fires

  /// The first tick strictly after `after`, within start and end; empty when there is none.
  std::optional<WallTime> next_after(WallTime after) const;

  /// How many ticks lie in (after, through], at most `limit`. Arithmetic, except for the days on
  /// which a cron's zone changes.
  std::int64_t count_between(WallTime after, WallTime through,
                             std::int64_t limit = INT64_MAX) const;

  /// The last tick in (after, through]; cheap however long that time is, unless the ticks are few.
  std::optional<WallTime> last_between(WallTime after, WallTime through) const;

  /// Every 30 s or sooner, at times at least: its next tick comes while a huge moment is being recorded.
  bool fires_often() const;

  model::ScheduleKind kind() const { return kind_; }

 private:
  friend Result<CompiledSchedule> compile(const model::Schedule&, ZonePtr, WallTime);

  std::optional<WallTime> next_unbounded(WallTime after) const;
  std::optional<WallTime> next_fixed_rate(WallTime after) const;

  model::ScheduleKind kind_ = model::ScheduleKind::None;
  std::shared_ptr<const CronExpression> cron_;  ///< shared by copies of this schedule
  ZonePtr zone_;
  model::SkippedTime skipped_time_ = model::SkippedTime::RunAtEnd;
  model::RepeatedTime repeated_time_ = model::RepeatedTime::First;
  Millis interval_{0};
  WallTime anchor_{};
  std::optional<WallTime> start_;
  std::optional<WallTime> end_;
};

/// Compiles a schedule. `zone` is needed for crons only and may be null otherwise. Tick k of a
/// fixed rate is at anchor + k * interval; the anchor itself is a tick when `start` is given, else
/// the first tick is one interval later. InvalidArgument as validate_schedule says.
Result<CompiledSchedule> compile(const model::Schedule& schedule, ZonePtr zone, WallTime anchor);

/// All that is wrong with a schedule, as sentences for people; empty when it is fine. Whether the
/// zone exists is not known here.
std::vector<std::string> validate_schedule(const model::Schedule& schedule);

}  // namespace rota::master::core
