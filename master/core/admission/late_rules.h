// How many late ticks get runs of their own, and how fast the runs that stand for late ticks start. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/time.h"
#include "common/model/job.h"
#include "master/core/time/schedule.h"

namespace rota::master::core {

/// The run of a tick that was recorded so soon after its moment starts at once, and what is in its way is
/// told as it is. Whether the tick is late is another matter: its job's grace alone says so.
inline constexpr Millis kDecidedInTime{2000};

/// late: fire_all. So many runs of one job, and of all jobs, may wait to be caught up.
inline constexpr std::int64_t kCaughtUpOfJob = 1000;
inline constexpr std::int64_t kCaughtUpInAll = 100'000;

/// How many late ticks of a job may still become runs.
constexpr std::int64_t late_room(std::size_t waiting_of_job, std::size_t waiting_in_all) {
  const std::int64_t of_job = kCaughtUpOfJob - static_cast<std::int64_t>(waiting_of_job);
  const std::int64_t in_all = kCaughtUpInAll - static_cast<std::int64_t>(waiting_in_all);
  return std::max<std::int64_t>(0, std::min(of_job, in_all));
}

/// The moment behind which the newest `most` ticks of [first, last] lie, where `first` is a tick and there
/// are more than `most`. Costs a few dozen counts, however many ticks there are.
WallTime newest_begin(const CompiledSchedule& schedule, WallTime first, WallTime last, std::int64_t most);

/// When the next run of a pool may start. A value.
class Pace {
 public:
  bool may_start(MonoTime now) const { return !next_ || *next_ <= now; }
  /// Empty: at once.
  std::optional<MonoTime> next() const { return next_; }
  /// One has started. What a late look at the clock has missed is made up for, by at most kSlack.
  void note_start(MonoTime now, std::int32_t per_second) {
    const Micros pause{1'000'000 / std::max(per_second, 1)};
    next_ = std::max(next_.value_or(now), now - kSlack) + pause;
  }

  /// Another rate counts from now on: what waits for its turn need not wait longer than that one asks for.
  void hurry(MonoTime now, std::int32_t per_second) {
    const Micros pause{1'000'000 / std::max(per_second, 1)};
    if (next_) next_ = std::min<MonoTime>(*next_, now + pause);
  }

 private:
  static constexpr Micros kSlack{50'000};
  std::optional<MonoTime> next_;
};

}  // namespace rota::master::core
