#include "master/core/workers/inventory_rules.h"

#include <set>

#include "master/core/notify/expect_rules.h"
#include "master/core/attempts/attempt_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/attempts/cancel_rules.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/admission/overlap.h"

namespace rota::master::core {

using model::HeldAttempt;
using model::Reason;
using model::RunState;

void end_dead(Context& ctx, RunEntry& run) {
  model::Outcome outcome;
  outcome.state = RunState::Lost;
  outcome.reason = Reason::AttemptDied;
  outcome.message = "worker " + run.progress().worker().id + " does not hold the attempt any more";
  outcome.ended = ctx.at;
  ++ctx.state.counters().proven_dead;
  end_attempt(ctx, run, EndProof::Dead, outcome);
}

namespace {

RunEntry* present_attempt(State& state, model::AttemptKey key, const LifeEntry& life) {
  RunEntry* run = state.find_run(key.run);
  return run != nullptr && run->is_of(key, life.key().id) ? run : nullptr;
}

void adopt(Context& ctx, RunEntry& run, const LifeEntry& life, const HeldAttempt& held) {
  State& state = ctx.state;
  if (run.progress().worker() != life.key()) {
    state.move_attempt(run, life.key());
    state.runs().timers().set(run.id(), RunTimer::LazyWrite, ctx.now.mono + Millis{1000});
    ++state.counters().adopted;
  }
  run.set_reason(Reason::None);
  run.send.accepted = true;
  state.runs().timers().clear(run.id(), RunTimer::DispatchRetry);
  if (!state.runs().timers().has(run.id(), RunTimer::Backstop)) set_backstop(ctx, run);
  const WallTime fallback = run.progress().started().value_or(ctx.now.wall);
  mark_running(ctx, run, held.started == WallTime{} ? fallback : held.started);
  if (run.progress().cancel_asked) send_cancel(ctx, run);
}

/// A restored database does not know that the run was sent there, and no other worker has it: it goes on.
void readopt(Context& ctx, RunEntry& run, LifeEntry& life, const HeldAttempt& held) {
  State& state = ctx.state;
  state.runs().timers().clear_all(run.id());
  state.enter_slot_queue(run);
  state.assign(run, life, held.key.attempt, held.started == WallTime{} ? ctx.at : held.started);
  expect_length(state, run);
  state.touch(run);
  ++state.counters().readopted;
  adopt(ctx, run, life, held);
}

/// By what is stored, runs of its job that may be sent again come first.
bool waits_for_others(const JobEntry& job, const RunEntry& run) {
  const bool has_no_place = !has_place(job.rules(), job.under_way());
  return job.behind().contains(run.id()) || (run.waits_to_catch_up() && has_no_place);
}

void apply_stranger(Context& ctx, LifeEntry& life, const HeldAttempt& held,
                   std::vector<model::AttemptKey>& strangers) {
  RunEntry* const run = ctx.state.find_run(held.key.run);
  const bool is_forgotten = run != nullptr && pass_forgotten(ctx.state, *run, held.key.attempt);
  const bool may_go_on = is_forgotten && !run->is_held() && !waits_for_others(run->job(), *run);
  if (may_go_on) return readopt(ctx, *run, life, held);
  if (is_forgotten) ctx.state.given_up().add(held.key);  // it is ended; how, its report will tell
  strangers.push_back(held.key);
}

void apply_held(Context& ctx, LifeEntry& life, const HeldAttempt& held,
               std::vector<model::AttemptKey>& strangers) {
  RunEntry* run = present_attempt(ctx.state, held.key, life);
  switch (held.state) {
    case HeldAttempt::State::Running:
      if (run != nullptr) {
        adopt(ctx, *run, life, held);
      } else {
        apply_stranger(ctx, life, held, strangers);
      }
      return;
    case HeldAttempt::State::Finished:
      apply_outcome(ctx, held.key, life.key(), held.outcome);
      return;
    case HeldAttempt::State::Tombstone:
      if (run != nullptr) end_dead(ctx, *run);
      return;
  }
}

/// Stored for this worker, and not in its inventory.
void apply_missing(Context& ctx, RunEntry& run, const LifeEntry& life) {
  if (run.progress().worker() != life.key()) {
    end_dead(ctx, run);
    return;
  }
  run.set_reason(Reason::None);
  const bool may_be_under_way = run.send.unclear || run.send.in_flight > 0 || run.send.accepted;
  if (run.progress().cancel_asked && !may_be_under_way) {
    finish_run(ctx, run, RunState::Cancelled, cancel_reason(run), run.progress().detail());
    return;
  }
  ++ctx.state.counters().resent;
  run.send.accepted = false;
  send_attempt(ctx, run);
}

}  // namespace

void reconcile(Context& ctx, LifeEntry& life, const model::Inventory& inventory) {
  State& state = ctx.state;
  std::set<model::AttemptKey> told;
  std::vector<model::AttemptKey> strangers;
  for (const HeldAttempt& held : inventory.attempts) {
    told.insert(held.key);
    apply_held(ctx, life, held, strangers);
  }
  if (!strangers.empty()) {
    ctx.out.sends.push_back(
        SendCancel{life.key(), life.info().address, std::move(strangers), Millis{0}});
  }
  if (!inventory.complete) return;
  for (const RunId id : state.workers().runs_on(life.key().id)) {
    RunEntry* run = state.find_run(id);
    if (run != nullptr && run->is_held() && !told.contains(run->attempt())) {
      apply_missing(ctx, *run, life);
    }
  }
}

}  // namespace rota::master::core
