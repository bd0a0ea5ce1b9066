#include "master/core/attempts/limit_rules.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/model/entry_rules.h"
#include "master/core/attempts/attempt_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

/// When the first attempt that counts was dispatched.
MaybeTime begun(const RunEntry& run) {
  const RunTrack& progress = run.progress();
  return progress.first_dispatched() ? progress.first_dispatched() : progress.dispatched();
}

bool has_begun(const RunEntry& run) { return run.is_held() || run.progress().first_dispatched(); }

Millis limit_of(const RunEntry& run) {
  return has_begun(run) ? run.rules().run_timeout : run.rules().queue_timeout;
}

/// The jitter is known as long as its job was not edited; else it counts as none.
WallTime fired(const RunEntry& run) {
  const RunTrack& progress = run.progress();
  if (progress.reason == Reason::Jitter && progress.not_before()) return *progress.not_before();
  const bool is_known = run.row().tick && run.job().row.version == run.row().version;
  return run.row().recorded + (is_known ? run.job().jitter_at(*run.row().tick) : Millis{0});
}

}  // namespace

AttemptLimit limit_of_attempt(const RunEntry& run) {
  const Millis own = run.rules().timeout, whole = run.rules().run_timeout;
  if (whole <= Millis{0} || !run.progress().dispatched()) return {own, false};
  // Less than nothing where a clock was set back.
  const Millis gone = std::max(*run.progress().dispatched() - *begun(run), Millis{0});
  const Millis left = std::max(whole - gone, Millis{1});
  if (own > Millis{0} && own <= left) return {own, false};
  return {left, true};
}

Millis age_of(const RunEntry& run, WallTime at) {
  return begun(run) ? std::max(at - *begun(run), Millis{0}) : Millis{0};
}

bool has_time_at(const RunEntry& run, WallTime at) {
  return run.rules().run_timeout <= Millis{0} || !begun(run) || at < *begun(run) + run.rules().run_timeout;
}

std::optional<WallTime> out_of_time_at(const RunEntry& run) {
  const Millis most = limit_of(run);
  if (most <= Millis{0}) return std::nullopt;
  return (has_begun(run) ? *begun(run) : fired(run)) + most;
}

void watch_limit(State& state, const RunEntry& run, WallTime at, MonoTime now) {
  const auto end = out_of_time_at(run);
  if (!end) return;
  const Millis jitter = run.progress().reason == Reason::Jitter ? model::kLongestJitter : Millis{0};
  const Millis left = std::clamp<Millis>(*end - at, Millis{0}, limit_of(run) + jitter);
  state.runs().timers().set(run.id(), RunTimer::Limit, now + left);
}

void end_out_of_time(Context& ctx, RunEntry& run) {
  const bool is_of_queue = !has_begun(run);
  model::Outcome outcome = run.progress().outcome();
  outcome.state = RunState::TimedOut;
  run.set_outcome(std::move(outcome));
  std::string told = is_of_queue ? "timeout.queue: " + format_duration(run.rules().queue_timeout)
                                 : run_limit_text(run.rules());
  finish_run(ctx, run, RunState::TimedOut, is_of_queue ? Reason::QueueTimeout : Reason::RunTimeout,
             std::move(told));
}

std::string run_limit_text(const model::JobRules& rules) {
  return "timeout.run: " + format_duration(rules.run_timeout);
}

}  // namespace rota::master::core
