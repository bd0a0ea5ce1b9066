#include "master/core/attempts/limit_rules.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/model/entry_rules.h"
#include "master/core/attempts/end_rules.h"

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

/// What is in force now.
struct Limit {
  Millis most{0};                      ///< 0: none
  bool is_default = false;
  WallTime since{};                    ///< of a default: when it was set
};

Limit chosen(Millis own, Millis by_default, const DefaultTimes& times) {
  if (own > Millis{0} || by_default <= Millis{0}) return {own};
  return {by_default, true, times.since};
}

const DefaultTimes& times_now(const State& state, const RunEntry& run) {
  return state.quotas().times_now(run.job().row.space());
}

Limit run_limit(const State& state, const RunEntry& run) {
  const DefaultTimes& times = times_now(state, run);
  return chosen(run.rules().run_timeout, times.run, times);
}

Limit limit_of(const State& state, const RunEntry& run) {
  if (has_begun(run)) return run_limit(state, run);
  const DefaultTimes& times = times_now(state, run);
  return chosen(run.rules().queue_timeout, times.queue, times);
}

std::string limit_words(const char* key, Millis most, bool is_default, const RunEntry& run) {
  std::string text = std::string(key) + ": " + format_duration(most);
  return is_default ? text + " (namespace " + run.job().row.space() + ")" : text;
}

/// The jitter is known as long as its job was not edited; else it counts as none.
WallTime fired(const RunEntry& run) {
  const RunTrack& progress = run.progress();
  if (progress.reason == Reason::Jitter && progress.not_before()) return *progress.not_before();
  const bool is_known = run.row().tick && run.job().row.version == run.row().version;
  return run.row().recorded + (is_known ? run.job().jitter_at(*run.row().tick) : Millis{0});
}

}  // namespace

AttemptLimit limit_of_attempt(const State& state, const RunEntry& run) {
  const std::string& space = run.job().row.space();
  const DefaultTimes& times =
      run.is_held() ? state.quotas().times_of(space, run.progress().times()) : times_now(state, run);
  const Limit own = chosen(run.rules().timeout, times.attempt, times);
  const Limit whole = chosen(run.rules().run_timeout, times.run, times);
  if (whole.most <= Millis{0} || !run.progress().dispatched()) return {own.most, false, own.is_default};
  // Less than nothing where a clock was set back.
  const Millis gone = std::max(*run.progress().dispatched() - *begun(run), Millis{0});
  const Millis left = std::max(whole.most - gone, Millis{1});
  if (own.most > Millis{0} && own.most <= left) return {own.most, false, own.is_default};
  return {left, true, whole.is_default};
}

Millis age_of(const RunEntry& run, WallTime at) {
  return begun(run) ? std::max(at - *begun(run), Millis{0}) : Millis{0};
}

bool has_time_at(const State& state, const RunEntry& run, WallTime at) {
  const Limit limit = run_limit(state, run);
  return limit.most <= Millis{0} || !begun(run) || at < *begun(run) + limit.most;
}

std::optional<WallTime> out_of_time_at(const State& state, const RunEntry& run) {
  const Limit limit = limit_of(state, run);
  if (limit.most <= Millis{0}) return std::nullopt;
  return std::max((has_begun(run) ? *begun(run) : fired(run)) + limit.most, limit.since);
}

void watch_limit(State& state, const RunEntry& run, WallTime at, MonoTime now) {
  const auto end = out_of_time_at(state, run);
  if (!end) return;
  const Millis jitter = run.progress().reason == Reason::Jitter ? model::kLongestJitter : Millis{0};
  const Millis left = std::clamp<Millis>(*end - at, Millis{0}, limit_of(state, run).most + jitter);
  state.runs().timers().set(run.id(), RunTimer::Limit, now + left);
}

void watch_limits_of(Context& ctx, const std::string& space) {
  State& state = ctx.state;
  for (const auto& [id, run] : state.runs().all()) {
    if (model::is_final(run.progress().state) || run.is_held() || run.job().row.space() != space) continue;
    state.runs().timers().clear(id, RunTimer::Limit);
    watch_limit(state, run, ctx.at, ctx.now.mono);
  }
}

void end_out_of_time(Context& ctx, RunEntry& run) {
  const bool is_of_queue = !has_begun(run);
  model::Outcome outcome = run.progress().outcome();
  outcome.state = RunState::TimedOut;
  run.set_outcome(std::move(outcome));
  const Limit limit = limit_of(ctx.state, run);
  finish_run(ctx, run, RunState::TimedOut, is_of_queue ? Reason::QueueTimeout : Reason::RunTimeout,
             limit_words(is_of_queue ? "timeout.queue" : "timeout.run", limit.most, limit.is_default, run));
}

std::string run_limit_text(const State& state, const RunEntry& run) {
  const Limit limit = run_limit(state, run);
  return limit_words("timeout.run", limit.most, limit.is_default, run);
}

std::string attempt_limit_text(const RunEntry& run, const AttemptLimit& limit) {
  return limit_words("timeout.attempt", limit.most, limit.is_default, run);
}

}  // namespace rota::master::core
