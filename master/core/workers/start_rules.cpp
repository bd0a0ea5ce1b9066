#include "master/core/workers/start_rules.h"

#include <string>
#include <vector>

#include "master/core/admission/firing.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/memory_rules.h"
#include "master/core/notices.h"
#include "master/core/time/time_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

constexpr std::size_t kRunsABatch = 5000;
constexpr std::string_view kStopped = "its worker was stopped";
constexpr std::string_view kAway = "its worker was away for ten minutes";
constexpr std::string_view kDoubtful =
    "the database was restored; nobody knows whether it has fired for this start";

bool may_run_on(const KeptRules& rules, const LifeEntry& life) {
  if (rules.pool != life.info().pool) return false;
  if (!rules.handler.empty() && !belongs(life.info(), {rules.pool, rules.handler})) return false;
  return rules.route != model::RouteKind::Named || rules.worker == life.key().id;
}

bool fires_for(const JobEntry& job, const LifeEntry& life, const model::WorkerStart& start) {
  return is_planned(job) && may_run_on(job.rules(), life) && why_over(job).empty() &&
         !job.schedule().names_at_start(start.accepted).empty();
}

/// Whether its run may start; else it is recorded as skipped.
bool fire(Context& ctx, JobEntry& job, const model::WorkerStart& start) {
  const std::string key = model::start_key(job.row.id, start.key);
  Firing firing;
  firing.kind = model::RunKind::WorkerStart;
  firing.scheduled = start.accepted;
  firing.not_before = start.accepted + job.jitter_at_start(start.accepted, start.key.start);
  firing.principal = model::kStartPrincipal;
  firing.request_key = key;
  firing.start = &start.key;
  OverlapChoice choice = overlap_of(ctx.state, job, firing.kind);
  std::string skipped_for;
  if (const model::Freeze* freeze = ctx.state.freezes().covering(job.row.space(), start.accepted)) {
    choice = {OverlapChoice::Kind::Skip, Reason::Frozen};
    skipped_for = std::to_string(freeze->id);
  } else if (ctx.state.ticks().are_held()) {
    choice = {OverlapChoice::Kind::Skip, Reason::Missed};
    skipped_for = kDoubtful;
  } else if (choice.kind != OverlapChoice::Kind::Skip) {
    const Reason beyond = why_no_firing(ctx.state, job.row.space(), ctx.at);
    if (beyond != Reason::None) choice = {OverlapChoice::Kind::Skip, beyond};
    if (beyond != Reason::None) skipped_for = skipped_words(ctx.state, job.row.space(), beyond);
  }
  firing.skipped_for = skipped_for;
  begin_run(ctx, job, firing, choice);
  const bool has_fired = choice.kind != OverlapChoice::Kind::Skip;
  if (has_fired) remember_firing(ctx, job, ctx.state.recorded_through(job));
  return has_fired;
}

void accept(Context& ctx, const LifeEntry& life) {
  State& state = ctx.state;
  model::WorkerStart start;
  start.key = {life.key().id, life.info().start};
  start.home = std::string(model::home_of(life.key()));
  start.pool = life.info().pool;
  start.accepted = ctx.at;
  start.number = state.new_start_number();
  std::int64_t runs = 0, skipped = 0;
  for (const JobId id : state.jobs().start_jobs()) {
    JobEntry& job = *state.find_job(id);
    if (!fires_for(job, life, start)) continue;
    ++(fire(ctx, job, start) ? runs : skipped);
  }
  ctx.out.changes.starts.push_back(start);
  if (runs + skipped > 0) {
    tell(ctx, "worker start fired", {{"worker", start.key.worker},
                                     {"start", start.key.start},
                                     {"runs", std::to_string(runs)},
                                     {"skipped", std::to_string(skipped)}});
  }
  state.starts().accept(std::move(start));
}

/// Those of the worker's that nobody holds and that `is_over` names.
template <typename IsOver>
void end_runs(Context& ctx, const std::string& worker, std::string_view why, const IsOver& is_over) {
  const IdSet<RunId>& bound = ctx.state.starts().runs_of(worker);
  for (const RunId id : std::vector<RunId>(bound.begin(), bound.end())) {
    RunEntry* run = ctx.state.find_run(id);
    if (model::is_final(run->progress().state) || run->is_held() || !is_over(*run)) continue;
    end_with_start(ctx, *run, why);
  }
}

bool is_away(const State& state, const std::string& worker) {
  const WorkerEntry* entry = state.workers().find_worker(worker);
  return entry == nullptr || entry->present().empty();
}

void watch_absent(Context& ctx, const std::string& worker) {
  ctx.state.starts().timers().set(worker, StartTimer::Away, ctx.now.mono + kStartPatience);
}

}  // namespace

std::optional<Error> why_no_start_job(const State& state, const JobEntry* job, const Plan& plan) {
  if (plan.schedule == nullptr || !plan.schedule->has_worker_start()) return std::nullopt;
  if (!state.starts().may_fire()) {
    return Error(ErrorCode::Unavailable,
                 "schedule: a master of an older version is registered, or was a moment ago; it could not "
                 "read runs of @worker_start. Try again when all are new");
  }
  const std::set<JobId>& known = state.jobs().start_jobs();
  if (known.size() < kStartJobsMost || (job != nullptr && known.contains(job->row.id))) return std::nullopt;
  return Error(ErrorCode::Conflict, "schedule: " + std::to_string(known.size()) +
                                        " jobs have @worker_start already, more are not allowed; let one job "
                                        "do the work of several");
}

bool is_of_start(const RunEntry& run, const LifeEntry& life) {
  const model::StartKey& start = run.progress().start();
  return start.worker == life.key().id && start.start == life.info().start;
}

void end_with_start(Context& ctx, RunEntry& run, std::string_view why) {
  const RunState state = run.progress().attempt > 0 ? RunState::Lost : RunState::Skipped;
  finish_run(ctx, run, state, Reason::WorkerStartOver, std::string(why));
}

void note_start_here(Context& ctx, const LifeEntry& life) {
  StartTable& starts = ctx.state.starts();
  starts.timers().clear_all(life.key().id);
  end_runs(ctx, life.key().id, kStartedAgain, [&](const RunEntry& run) { return !is_of_start(run, life); });
  const std::string& start = life.info().start;
  if (!start.empty() && !starts.is_accepted(life.key(), start)) starts.waiting().insert(life.key());
}

void note_start_gone(Context& ctx, const LifeEntry& life) {
  StartTable& starts = ctx.state.starts();
  const std::string& worker = life.key().id;
  starts.waiting().erase(life.key());
  if (life.why == kWasStopped) {
    end_runs(ctx, worker, kStopped, [&](const RunEntry& run) { return is_of_start(run, life); });
  }
  if (!starts.runs_of(worker).empty() && is_away(ctx.state, worker)) watch_absent(ctx, worker);
}

void watch_absent_starts(Context& ctx) {
  for (const auto& [worker, runs] : ctx.state.starts().workers_with_runs()) {
    if (is_away(ctx.state, worker)) watch_absent(ctx, worker);
  }
}

void end_absent_starts(Context& ctx, const std::string& worker) {
  if (!is_away(ctx.state, worker)) return;
  end_runs(ctx, worker, kAway, [](const RunEntry&) { return true; });
  if (!ctx.state.starts().runs_of(worker).empty()) watch_absent(ctx, worker);  // one is held, up to its fence
}

void fire_worker_starts(Context& ctx) {
  StartTable& starts = ctx.state.starts();
  // What a restored database has forgotten is accepted while ticks are held, and fires nothing.
  if (ctx.state.ticks().are_held() && !starts.is_doubtful()) return;
  while (!starts.waiting().empty() && ctx.out.changes.new_runs.size() < kRunsABatch) {
    const model::WorkerKey key = *starts.waiting().begin();
    starts.waiting().erase(starts.waiting().begin());
    const LifeEntry* life = ctx.state.find_life(key);
    const bool is_here = life != nullptr && life->is_present() && life->is_reconciled();
    if (is_here && !starts.is_accepted(key, life->info().start)) accept(ctx, *life);
  }
}

}  // namespace rota::master::core
