#include "master/core/attempts/confirm_rules.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/attempts/loss_rules.h"
#include "master/core/notices.h"

namespace rota::master::core {

using model::Reason;

namespace {

bool needs_confirmation(const State& state, const RunEntry& run) {
  return run.rules().loss == model::LossPolicy::Confirm && !run.progress().cancel_asked &&
         !state.workers().is_confirmed(run.progress().worker());
}

std::optional<Error> refusal_of(const State& state, const std::string& worker) {
  if (!state.listings().is_listed()) {
    return Error(ErrorCode::Unavailable, "a master has just taken office and does not know yet who is here; "
                                         "try again in a moment");
  }
  const WorkerEntry* found = state.workers().find_worker(worker);
  if (found == nullptr || found->absent_since) return std::nullopt;
  return Error(ErrorCode::Conflict,
               "worker '" + shown_text(worker) + "' is registered, so it says itself what it holds; to have "
               "its work done elsewhere: rota worker drain " + shown_text(worker));
}

DeathTaken::Run what_follows(Context& ctx, const RunEntry& run) {
  State& state = ctx.state;
  const WorkerEntry& worker = state.workers().worker_of(run.progress().worker().id);
  DeathTaken::Run out;
  out.run = run.id();
  out.attempt = run.progress().attempt;
  if (const JobEntry* job = state.find_job(run.row().job)) out.job = job->row.name;
  out.asks = needs_confirmation(state, run);
  out.begins_again = !run.progress().cancel_asked &&
                     after_loss(run.rules(), run.progress().losses + 1, false) == AfterLoss::Rerun;
  const MonoTime fence = fence_of(state, worker, worker.absent_since.value_or(ctx.now.mono), run.rules());
  out.after = std::max(Millis{0}, std::chrono::ceil<Millis>(fence - ctx.now.mono));
  return out;
}

void confirm(Context& ctx, const model::WorkerKey& life, const ConfirmDead& event) {
  const model::WorkerDeath death{life, event.principal, event.why, ctx.state.epoch(), ctx.at, {}};
  if (ctx.state.workers().confirm_death(death)) ctx.out.changes.deaths.push_back(death);
}

}  // namespace

bool waits_for_confirmation(Context& ctx, RunEntry& run) {
  if (!needs_confirmation(ctx.state, run)) return false;
  if (run.progress().reason != Reason::WaitsForConfirmation) {
    run.set_reason(Reason::WaitsForConfirmation);
    run.set_detail("rota worker confirm-dead " + run.progress().worker().id);
    ctx.state.touch(run);
  }
  return true;
}

void stop_asking(RunEntry& run) {
  if (run.progress().reason == Reason::WaitsForConfirmation) run.set_detail({});
}

void handle_confirm_dead(Context& ctx, const ConfirmDead& event) {
  State& state = ctx.state;
  if (auto refusal = refusal_of(state, event.worker)) return reply(ctx, event.token, std::move(*refusal));
  DeathTaken taken;
  for (const RunId id : state.workers().runs_on(event.worker)) {
    taken.runs.push_back(what_follows(ctx, *state.find_run(id)));
  }
  for (const DeathTaken::Run& each : taken.runs) {
    taken.changed = taken.changed || each.asks;
    if (event.only_tell || !each.asks) continue;
    confirm(ctx, state.find_run(each.run)->progress().worker(), event);
    state.runs().timers().set(each.run, RunTimer::Fence, ctx.now.mono);
  }
  if (taken.changed && !event.only_tell) {
    warn(ctx, "worker confirmed to be dead",
         {{"worker", event.worker}, {"by", event.principal}, {"why", event.why}});
  }
  reply(ctx, event.token, std::move(taken));
}

void note_return(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  const std::set<std::string>& present = state.workers().worker_of(id).present();
  std::vector<model::WorkerKey> back;
  for (const auto& [life, death] : state.workers().confirmed_of(id)) {
    const bool is_back = std::ranges::any_of(present, [&home = life](const std::string& incarnation) {
      return home_of(model::WorkerKey{home.id, incarnation}) == home_of(home);
    });
    if (is_back) back.push_back(life);
  }
  for (const model::WorkerKey& life : back) {
    model::WorkerDeath death = state.workers().end_confirmation(life);
    death.came_back = ctx.at;
    ctx.out.changes.deaths.push_back(std::move(death));
  }
}

}  // namespace rota::master::core
