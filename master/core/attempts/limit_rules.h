// How long an attempt may last (timeout: attempt), a run with all of its attempts (run), and its wait for the
// first of them (queue). What its job does not say, its namespace says (rota namespace set). While an
// attempt is under way its worker enforces what is left; else the leader does.
//
// Defaults change while runs are under way. An attempt goes by what was in force when it was sent, also for
// what was left of its run's time then. All else goes by what is in force now.
#pragma once

#include <optional>
#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// How long its present attempt may run.
struct AttemptLimit {
  Millis most{0};                      ///< 0: without a limit
  bool is_of_run = false;              ///< the run's time ends before the attempt's own
  bool is_default = false;             ///< its namespace says it
};

/// By what is stored of the run and of its namespace, so that each leader and each repeated dispatch says the
/// same.
AttemptLimit limit_of_attempt(const State& state, const RunEntry& run);

/// How long ago its first attempt was dispatched; 0: none was.
Millis age_of(const RunEntry& run, WallTime at);

/// Whether another attempt that begins then would begin in the run's time.
bool has_time_at(const State& state, const RunEntry& run, WallTime at);

/// When a run that nobody holds is out of time; none: it has no such limit. What counts for a run that has
/// not begun is its firing, after the jitter of its schedule. By a default it is never out of time before the
/// moment at which that was set.
std::optional<WallTime> out_of_time_at(const State& state, const RunEntry& run);

/// From now on its end is watched. It is never further away than the limit: a clock may have been ahead when
/// the run began. Call it when it begins to wait, and when its timers were cleared.
void watch_limit(State& state, const RunEntry& run, WallTime at, MonoTime now);

/// The default times of this namespace have changed: all of its runs that nobody holds are watched anew.
void watch_limits_of(Context& ctx, const std::string& space);

/// Ends a run that nobody holds and whose time is over. Its last attempt, if any, has ended before.
void end_out_of_time(Context& ctx, RunEntry& run);

/// "timeout.run: 1h", or "timeout.run: 1h (namespace shop)" when that says it.
std::string run_limit_text(const State& state, const RunEntry& run);
/// The same of one attempt.
std::string attempt_limit_text(const RunEntry& run, const AttemptLimit& limit);

}  // namespace rota::master::core
