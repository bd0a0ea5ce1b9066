#include "master/core/attempts/confirm_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/attempts/loss_rules.h"
#include "master/core/notices.h"

namespace rota::master::core {

using model::Reason;

namespace {

bool needs_confirmation(const State& state, const RunEntry& run) {
  return run.rules->loss == model::LossPolicy::Confirm && !run.progress().cancel_asked &&
         !state.confirmed.contains(run.progress().worker);
}

std::optional<Error> refusal_of(const State& state, const std::string& worker) {
  if (!state.listed) {
    return Error(ErrorCode::Unavailable, "a master has just taken office and does not know yet who is here; "
                                         "try again in a moment");
  }
  const auto found = state.workers.find(worker);
  if (found == state.workers.end() || found->second.absent_since) return std::nullopt;
  return Error(ErrorCode::Conflict,
               "worker '" + shown_text(worker) + "' is registered, so it says itself what it holds; to have "
               "its work done elsewhere: rota worker drain " + shown_text(worker));
}

DeathTaken::Run what_follows(Context& ctx, const RunEntry& run) {
  State& state = ctx.state;
  const WorkerEntry& worker = state.worker_of(run.progress().worker.id);
  DeathTaken::Run out;
  out.run = run.row.id;
  out.attempt = run.progress().attempt;
  if (const JobEntry* job = state.find_job(run.row.job)) out.job = job->row.name;
  out.asks = needs_confirmation(state, run);
  out.begins_again = !run.progress().cancel_asked &&
                     after_loss(*run.rules, run.progress().losses + 1, false) == AfterLoss::Rerun;
  const MonoTime fence = fence_of(state, worker, worker.absent_since.value_or(ctx.now.mono), *run.rules);
  out.after = std::max(Millis{0}, std::chrono::ceil<Millis>(fence - ctx.now.mono));
  return out;
}

void confirm(Context& ctx, const model::WorkerKey& life, const ConfirmDead& event) {
  const model::WorkerDeath death{life, event.principal, event.why, ctx.state.epoch, ctx.at, {}};
  if (ctx.state.confirmed.emplace(life, death).second) ctx.out.changes.deaths.push_back(death);
}

}  // namespace

bool waits_for_confirmation(Context& ctx, RunEntry& run) {
  if (!needs_confirmation(ctx.state, run)) return false;
  model::RunProgress& progress = run.progress();
  if (progress.reason != Reason::WaitsForConfirmation) {
    progress.reason = Reason::WaitsForConfirmation;
    progress.detail = "rota worker confirm-dead " + progress.worker.id;
    ctx.state.touch(run);
  }
  return true;
}

void stop_asking(RunEntry& run) {
  if (run.progress().reason == Reason::WaitsForConfirmation) run.progress().detail.clear();
}

void handle_confirm_dead(Context& ctx, const ConfirmDead& event) {
  State& state = ctx.state;
  if (auto refusal = refusal_of(state, event.worker)) return reply(ctx, event.token, std::move(*refusal));
  DeathTaken taken;
  for (const RunId id : state.runs_on(event.worker)) {
    taken.runs.push_back(what_follows(ctx, *state.find_run(id)));
  }
  for (const DeathTaken::Run& each : taken.runs) {
    taken.changed = taken.changed || each.asks;
    if (event.only_tell || !each.asks) continue;
    confirm(ctx, state.find_run(each.run)->progress().worker, event);
    state.run_timers.set(each.run, RunTimer::Fence, ctx.now.mono);
  }
  if (taken.changed && !event.only_tell) {
    warn(ctx, "worker confirmed to be dead",
         {{"worker", event.worker}, {"by", event.principal}, {"why", event.why}});
  }
  reply(ctx, event.token, std::move(taken));
}

void note_return(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  const std::set<std::string>& present = state.worker_of(id).present;
  for (auto at = state.confirmed.lower_bound({id, ""}); at != state.confirmed.end() && at->first.id == id;) {
    const bool is_back = std::ranges::any_of(present, [&](const std::string& incarnation) {
      return home_of(model::WorkerKey{id, incarnation}) == home_of(at->first);
    });
    if (!is_back) {
      ++at;
      continue;
    }
    at->second.came_back = ctx.at;
    ctx.out.changes.deaths.push_back(std::move(at->second));
    at = state.confirmed.erase(at);
  }
}

}  // namespace rota::master::core
