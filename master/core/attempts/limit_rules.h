// How long a run may last with all of its attempts (timeout: run), and how long it may wait for the first
// of them (timeout: queue). While an attempt is under way its worker enforces what is left; else the leader
// does.
#pragma once

#include <optional>

#include "master/core/state.h"

namespace rota::master::core {

/// How long its present attempt may run.
struct AttemptLimit {
  Millis most{0};                      ///< 0: without a limit
  bool is_of_run = false;              ///< the run's time ends before the attempt's own
};

/// By what is stored of the run, so that each leader and each repeated dispatch says the same.
AttemptLimit limit_of_attempt(const RunEntry& run);

/// How long ago its first attempt was dispatched; 0: none was.
Millis age_of(const RunEntry& run, WallTime at);

/// Whether another attempt that begins then would begin in the run's time.
bool has_time_at(const RunEntry& run, WallTime at);

/// When a run that nobody holds is out of time; none: it has no such limit. What counts for a run that has
/// not begun is its firing, after the jitter of its schedule.
std::optional<WallTime> out_of_time_at(const RunEntry& run);

/// From now on its end is watched. It is never further away than the limit: a clock may have been ahead when
/// the run began. Call it when it begins to wait, and when its timers were cleared.
void watch_limit(State& state, const RunEntry& run, WallTime at, MonoTime now);

/// Ends a run that nobody holds and whose time is over. Its last attempt, if any, has ended before.
void end_out_of_time(Context& ctx, RunEntry& run);

/// "timeout.run: 1h".
std::string run_limit_text(const model::JobRules& rules);

}  // namespace rota::master::core
