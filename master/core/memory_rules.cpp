#include "master/core/memory_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "master/core/batch_rows.h"
#include "master/core/job_rules.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {

using model::JobMemory;
using model::RunState;
using model::Until;

namespace {

constexpr std::int32_t kSucceeded = -1;  // JobMemory::failures of a job with `until: success`
constexpr Millis kMoment{1};             // times are whole milliseconds

bool counts_ends(const model::JobRules& rules) {
  return rules.until != Until::Never || rules.pause_after_failures > 0;
}

/// What was ended by hand says nothing about the job.
bool is_failure(RunState state) {
  switch (state) {
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::KillFailed:
    case RunState::Lost: return true;
    default: return false;
  }
}

void count_end(JobMemory& memory, const model::JobRules& rules, RunState state) {
  if (memory.failures == kSucceeded) return;
  if (state == RunState::Succeeded) {
    memory.failures = rules.until == Until::Success ? kSucceeded : 0;
  } else if (is_failure(state) && rules.pause_after_failures > 0) {
    ++memory.failures;
  }
}

/// Later than what is recorded: a worker may tell an end late.
std::optional<WallTime> due_after(const JobEntry& job, WallTime ended, WallTime recorded) {
  const CompiledEntry* entry = job.schedule().after_end();
  return entry->due_after_end(std::max(ended, recorded + kMoment - entry->interval()));
}

/// With what is being recorded: a tick that replaces a run ends it before the watermark has moved.
WallTime recorded_by_now(const Context& ctx, const JobEntry& job) {
  return std::max(ctx.state.recorded_through(job), ctx.recording.value_or(WallTime{}));
}

void set_due(State& state, JobEntry& job, std::optional<WallTime> due) {
  JobMemory memory = job.row.memory();
  memory.due = due;
  state.jobs().set_memory(job, memory);
}

/// Its moment may lie on a day that an edit of a calendar has closed since.
void move_due(State& state, JobEntry& job, WallTime due) {
  const CompiledEntry* entry = job.schedule().after_end();
  const auto open = entry->due_after_end(due - entry->interval());
  if (open != due) set_due(state, job, open);
}

bool is_counted(const JobEntry& job) {
  return !job.row.one_off && job.row.state == model::JobState::Enabled;
}

void set_over_since(State& state, JobEntry& job, std::optional<WallTime> since) {
  JobMemory memory = job.row.memory();
  memory.over_since = since;
  state.jobs().set_memory(job, memory);
}

/// The first end of a run after which its rules end it. While ticks are held it may go on by a later one.
void note_end(Context& ctx, JobEntry& job) {
  auto& over = ctx.state.jobs().over();
  if (!why_over(job).empty()) {
    if (over.try_emplace(job.row.id).second) set_over_since(ctx.state, job, ctx.at);
  } else if (const auto known = over.find(job.row.id); known != over.end() && !known->second) {
    over.erase(known);
    set_over_since(ctx.state, job, std::nullopt);
  }
}

/// Unless they must wait.
void end_those_over(Context& ctx) {
  auto& over = ctx.state.jobs().over();
  while (!over.empty() && !ctx.state.ticks().are_held()) {
    const auto [id, tick] = *over.begin();
    JobEntry* job = ctx.state.jobs().find(id);
    const std::string why = job == nullptr || !is_counted(*job) ? std::string() : why_over(*job);
    if (!why.empty()) pause_by_rules(ctx, *job, why, tick);
    over.erase(id);
    if (job != nullptr) set_over_since(ctx.state, *job, std::nullopt);
  }
}

}  // namespace

void remember_firing(Context& ctx, JobEntry& job, WallTime tick) {
  const std::int32_t most = job.rules().firings;
  if (most == 0) return;
  JobMemory memory = job.row.memory();
  ++memory.fired;
  ctx.state.jobs().set_memory(job, memory);
  if (memory.fired >= most) ctx.state.jobs().over()[job.row.id] = tick;
}

void remember_end(Context& ctx, JobEntry& job, const RunEntry& run) {
  if (!is_counted(job)) return;
  if (counts_ends(job.rules())) {
    JobMemory memory = job.row.memory();
    count_end(memory, job.rules(), run.progress().state);
    ctx.state.jobs().set_memory(job, memory);
    note_end(ctx, job);
  }
  if (job.schedule().after_end() == nullptr) return;
  // By its worker's clock, which may be wrong: not before its own moment, nor later than now.
  const WallTime ended = std::max(run.progress().ended().value_or(ctx.at), run.row().scheduled);
  // An end that is told late does not take back what the end of a later run has set. Without a moment no open
  // day follows.
  const auto due = due_after(job, std::min(ended, ctx.at), recorded_by_now(ctx, job));
  set_due(ctx.state, job, due ? std::max(job.row.memory().due, due) : std::nullopt);
  plan_next_tick(ctx.state, job);
}

std::string why_over(const JobEntry& job) {
  const model::JobRules& rules = job.rules();
  const JobMemory& memory = job.row.memory();
  if (rules.firings > 0 && memory.fired >= rules.firings) {
    return fmt::format("done: it has fired {} times (firings)", memory.fired);
  }
  if (rules.until == Until::Success && memory.failures == kSucceeded) {
    return "done: a run has succeeded (until: success)";
  }
  if (rules.pause_after_failures > 0 && memory.failures >= rules.pause_after_failures) {
    return fmt::format("{} runs in a row did not succeed (pause_after_failures)", memory.failures);
  }
  return {};
}

bool is_paused_by_failures(const JobEntry& job) {
  const std::int32_t most = job.rules().pause_after_failures;
  return most > 0 && job.row.memory().failures >= most;
}

bool is_over_by_tick(State& state, const JobEntry& job) {
  if (job.rules().firings == 0) return false;
  const auto found = state.jobs().over().find(job.row.id);
  return found != state.jobs().over().end() && found->second.has_value();
}

std::optional<WallTime> over_since(const State& state, const JobEntry& job) {
  if (!state.jobs().over().contains(job.row.id)) return std::nullopt;
  const auto since = job.row.memory().over_since;
  if (!since || *since < job.valid_from) return std::nullopt;  // an older master left it there
  return std::min(*since, state.core_time());
}

void forget_counts(Context& ctx, JobEntry& job) {
  JobMemory memory = job.row.memory();
  memory.fired = memory.failures = 0;
  memory.over_since.reset();
  ctx.state.jobs().set_memory(job, memory);
}

void forget_due(Context& ctx, JobEntry& job) { set_due(ctx.state, job, std::nullopt); }

void plan_after_end(State& state, JobEntry& job) {
  if (job.schedule().after_end() == nullptr || !is_counted(job)) return set_due(state, job, std::nullopt);
  const WallTime recorded = state.recorded_through(job);
  const auto due = job.row.memory().due;
  if (due && *due > recorded) return move_due(state, job, *due);
  set_due(state, job, job.has_runs() ? std::nullopt : due_after(job, recorded, recorded));
}

void be_due_now(State& state, JobEntry& job) {
  set_due(state, job, due_after(job, WallTime{}, state.recorded_through(job)));
  plan_next_tick(state, job);
}

void settle_ends_of_before(Context& ctx) { end_those_over(ctx); }

void settle_memories(Context& ctx) {
  end_those_over(ctx);
  JobTable& jobs = ctx.state.jobs();
  for (const JobId id : jobs.take_changed_memories()) {
    if (const JobEntry* job = jobs.find(id)) write_job(ctx, *job);
  }
}

}  // namespace rota::master::core
