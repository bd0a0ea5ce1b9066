#include "master/core/admission/dispatch_rules.h"

#include <algorithm>

#include "common/base/check.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/attempts/attempt_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/attempts/cancel_rules.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/workers/inventory_rules.h"
#include "master/core/notices.h"
#include "master/core/admission/choice_rules.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/semaphore_rules.h"
#include "master/core/admission/turn_rules.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/start_rules.h"
#include "master/core/workers/worker_rules.h"

namespace rota::master::core {

using model::Reason;
using model::Refusal;
using model::RunState;

namespace {

constexpr Millis kLazyWrite{1000};       // a state that lasts less long is not worth a write
constexpr std::size_t kReasonsTold = 1000;
constexpr Millis kBackstopSlack{30'000};
constexpr Millis kCancelRepeatSlack{5000};
constexpr Millis kUnreconciledPause{1000};
constexpr Millis kMostInventoryWait{10'000};
constexpr Millis kRest{1000};            // how long a worker that refused gets nothing

DispatchItem item_of(const State& state, const RunEntry& run) {
  DispatchItem item;
  item.attempt = run.attempt();
  item.job = run.row().job;
  item.version = run.row().version;
  item.kind = run.row().kind;
  item.tick = run.row().tick;
  item.scheduled = run.row().scheduled;
  item.timeout = limit_of_attempt(state, run).most;
  item.kill_grace = run.rules().kill_grace;
  item.disconnect_grace = run.rules().disconnect_grace;
  item.demand = {run.rules().slots, run.rules().needs};
  item.parameters = run.row().parameters;
  item.parent = run.progress().parentage().parent;
  item.parent_ended = run.progress().parentage().ended;
  return item;
}

/// Of the version by which the run was made; after an edit they are not known any more.
std::string entries_due(const Context& ctx, const RunEntry& run) {
  const JobEntry* job = ctx.state.find_job(run.row().job);
  if (job == nullptr || job->row.version != run.row().version) return {};
  if (run.is_bound()) return job->schedule().names_at_start(run.row().scheduled);
  return run.row().tick ? job->schedule().names_at(*run.row().tick) : std::string();
}

/// When the new reason lasts, it is also written to the rows of runs that already wait (not of all).
void note_blocked(Context& ctx, SlotQueue& queue, Reason reason) {
  const Reason before = std::exchange(queue.blocked, reason);
  if (before == reason || before == Reason::None) return;
  std::size_t told = 0;
  for (const auto& [id_of_line, line] : queue.lines()) {
    for (const RunId id : line.runs) {
      if (told++ == kReasonsTold) return;
      ctx.state.runs().timers().set(id, RunTimer::LazyWrite, ctx.now.mono + kLazyWrite);
    }
  }
}

/// What is sent to that life with this batch. It knows the last place of one; what stands there says whether
/// it still does.
SendDispatch& dispatch_to(LifeEntry& life, Effects& out) {
  auto* last = life.place < out.sends.size() ? std::get_if<SendDispatch>(&out.sends[life.place]) : nullptr;
  if (last != nullptr && last->worker == life.key()) return *last;
  life.place = out.sends.size();
  return std::get<SendDispatch>(out.sends.emplace_back(SendDispatch{life.key(), life.info().address, {}}));
}

/// What became of a run whose turn it was.
enum class Turned {
  Gone,         ///< an attempt was sent, or it ended, since it had no turn any more
  QueueWaits,   ///< no run of its queue can be sent now
  SpaceWaits    ///< none of its queue and namespace
};

/// Queues that wait for workers, in the order of their turns: what becomes free is theirs first.
using Waiting = std::vector<const SlotQueueKey*>;

/// No worker has room for that run now, the next of this queue. For a wide one a worker is kept, unless it
/// lacks tokens too, or takes more than a limit; no limit is kept for it meanwhile.
void wait_for_worker(State& state, const SlotQueueKey& key, RunId next, Waiting& before) {
  bool is_kept = false;
  if (!key.demand.is_plain()) {
    const std::string& space = state.find_run(next)->job().row.space();
    const bool may_ever = state.quotas().allows(key.pool, space, key.demand.slots);
    is_kept = may_ever && state.tokens().would_get(key) && state.workers().keep_for(key, before);
    if (!is_kept) state.workers().stop_keeping(key);
    state.quotas().stop_keeping(next);
  }
  state.tokens().step_back(key);
  if (!is_kept) before.push_back(&key);
}

/// It gets no tokens now: nothing else waits for it meanwhile.
void wait_for_tokens(Context& ctx, const SlotQueueKey& key, RunId next) {
  if (!key.demand.is_plain()) {
    ctx.state.quotas().stop_keeping(next);
    ctx.state.workers().stop_keeping(key);
  }
  note_blocked(ctx, *ctx.state.slot_queues().find(key), Reason::WaitsForSemaphore);
}

/// Whether its limits have so much left. If it may not keep them either, no worker is kept for it.
bool gets_limits(State& state, const SlotQueueKey& key, RunId next) {
  if (key.demand.slots == 1) return true;  // it has a turn: they are not full
  const std::string& space = state.find_run(next)->job().row.space();
  if (state.quotas().ask_for(next, key.pool, space, key.demand.slots)) return true;
  if (!state.quotas().keeps_for(next)) state.workers().stop_keeping(key);
  return false;
}

/// Whether a worker may take that run, which is the next of this queue, and limits and tokens allow it; if
/// not, the queue says why. Empty: it may.
std::optional<Turned> why_not_sent(Context& ctx, const SlotQueueKey& key, RunId next, Waiting& before) {
  State& state = ctx.state;
  SlotQueue& queue = *state.slot_queues().find(key);
  if (!state.workers().may_serve(key)) {
    wait_for_worker(state, key, next, before);
    note_blocked(ctx, queue, blocked_reason(state, key));
    return Turned::QueueWaits;
  }
  if (!gets_tokens(state, key)) {
    wait_for_tokens(ctx, key, next);
    return Turned::QueueWaits;
  }
  if (!gets_limits(state, key, next)) return Turned::SpaceWaits;
  return std::nullopt;
}

Turned dispatch_one(Context& ctx, const SlotQueueKey& key, RunId next, Waiting& before) {
  State& state = ctx.state;
  if (const auto waits = why_not_sent(ctx, key, next, before)) return *waits;
  RunEntry& run = *state.find_run(next);
  if (out_of_time_at(state, run).value_or(WallTime::max()) <= ctx.at) {  // before its timer, after a takeover
    end_out_of_time(ctx, run);
    return Turned::Gone;
  }
  JobEntry& job = run.job();
  const model::WorkerKey choice = choose_worker_for(state.workers(), run, key);
  LifeEntry& life = *state.find_life(choice);
  if (run.is_bound() && !is_of_start(run, life)) {
    end_with_start(ctx, run, kStartedAgain);
    return Turned::Gone;
  }
  const bool takes_turn = !run.is_bound() && run.rules().route == model::RouteKind::RoundRobin;
  if (takes_turn) job.last_worker.set(life.key().id);
  state.assign(run, life, run.last_attempt() + 1, ctx.at);
  expect_length(state, run);
  run.set_times(state.quotas().times_now(job.row.space()).version);
  state.touch(run);
  state.runs().timers().clear(run.id(), RunTimer::Limit);
  if (run.prefers()) state.runs().timers().clear(run.id(), RunTimer::Prefer);
  set_backstop(ctx, run);
  send_attempt(ctx, run);
  if (run.progress().losses > 0 && run.progress().outcome().state == RunState::Lost) {
    tell(ctx, "run started again after a loss", {{"run", std::to_string(run.id().value)},
                                                 {"attempt", std::to_string(run.progress().attempt)},
                                                 {"job", job_of(state, run)},
                                                 {"worker", life.key().id}});
  }
  return Turned::Gone;
}

/// The first row of a new run that found no slot says why.
void explain_new(Context& ctx, const SlotQueueKey& key) {
  State& state = ctx.state;
  for (const RunId id : state.runs().touched()) {
    RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->in_slot_queue() || slot_queue_of(*run) != key) continue;
    run->set_reason(why_queued(state, *run));
  }
}

/// Nothing is sent now. Every queue is looked at again later.
void explain_waiting(Context& ctx) {
  for (const std::string& pool : ctx.state.workers().marked_pools()) {
    for (const SlotQueueKey& key : ctx.state.slot_queues().of_pool(pool)) {
      ctx.state.slot_queues().find(key)->blocked = Reason::WorkersSettling;
      explain_new(ctx, key);
    }
  }
}

/// Runs whose turn has come before, and for which a limit is kept.
void send_kept(Context& ctx, const std::string& pool) {
  for (const RunId id : ctx.state.quotas().kept_in(pool)) {
    const RunEntry* run = ctx.state.find_run(id);
    Waiting before;
    if (run != nullptr && run->in_slot_queue()) dispatch_one(ctx, slot_queue_of(*run), id, before);
  }
}

/// No run of it has a turn while their namespaces are full, which may last: then no worker is kept for it
/// either.
void stop_keeping_in_vain(State& state, const SlotQueueKey& key) {
  const SlotQueue& queue = *state.slot_queues().find(key);
  const bool has_turn = std::ranges::any_of(queue.turns(), [&](const auto& each) {
    const QuotaTable::Side* side = state.quotas().find(model::QuotaOf::Space, std::string(each.first));
    if (side == nullptr || !side->is_full()) return true;
    const RunEntry* kept = side->kept_for() == RunId{} ? nullptr : state.find_run(side->kept_for());
    return kept != nullptr && kept->in_slot_queue() && slot_queue_of(*kept) == key;
  });
  if (!has_turn) state.workers().stop_keeping(key);
}

void pump_pool(Context& ctx, const std::string& pool) {
  State& state = ctx.state;
  Waiting before;
  send_kept(ctx, pool);
  const std::vector<SlotQueueKey> keys = state.slot_queues().of_pool(pool);
  PoolTurns turns(state.slot_queues(), keys, &state.quotas());
  while (!state.quotas().is_full(model::QuotaOf::Pool, pool)) {
    const auto next = turns.next();
    if (!next) break;
    const SlotQueueKey& key = keys[next->queue];
    const Turned turned = dispatch_one(ctx, key, next->run, before);
    if (turned == Turned::QueueWaits) turns.close(next->queue);
    if (turned != Turned::SpaceWaits) continue;
    const std::string& space = state.find_run(next->run)->job().row.space();
    turns.close(next->queue, space);
    state.quotas().note_passed(space, pool);
  }
  for (const std::string& space : turns.passed()) state.quotas().note_passed(space, pool);
  for (const SlotQueueKey& key : keys) {
    if (state.slot_queues().find(key) == nullptr) continue;
    if (!key.uses.empty() && is_held_back(state, key)) state.tokens().step_back(key);
    if (!key.demand.is_plain()) stop_keeping_in_vain(state, key);
    explain_new(ctx, key);
  }
}

/// Of the pools that are marked the one that waits longest for a turn: namespaces that may have few slots
/// get them in all of their pools.
std::string next_marked(const State& state) {
  const std::set<std::string>& marked = state.workers().marked_pools();
  if (marked.size() == 1 || state.quotas().versions() == 0) return *marked.begin();
  const auto last_turn = [&state](const std::string& pool) { return state.quotas().last_turn(pool); };
  return *std::ranges::min_element(marked, {}, last_turn);
}

/// The worker did not start the attempt and never will in this life, even when an older copy of the
/// dispatch arrives (worker/desk/attempt_table.h). So another worker is chosen, and the next attempt has
/// another number. Until then the run shows the reason of the worker, if it gave one (for example: its disk
/// is full).
void choose_again(Context& ctx, RunEntry& run, const std::string& why) {
  State& state = ctx.state;
  if (LifeEntry* life = state.find_life(run.progress().worker())) {
    state.workers().set_resting(*life, true);
    state.workers().timers().set(life->key(), LifeTimer::Rest, ctx.now.mono + kRest);
  }
  if (run.progress().cancel_asked) {
    finish_run(ctx, run, RunState::Cancelled, cancel_reason(run), run.progress().detail());
    return;
  }
  std::string detail;
  if (!why.empty()) {
    detail = run.progress().worker().id + " did not take attempt " +
             std::to_string(run.progress().attempt) + ": " + why;
  }
  state.runs().timers().clear_all(run.id());
  state.set_state(run, RunState::Waiting, Reason::None);
  state.enter_any_slot_queue(run);
  watch_limit(state, run, ctx.at, ctx.now.mono);
  run.set_detail(std::move(detail));
  state.touch(run);
}

void apply_refusal(Context& ctx, RunEntry& run, const DispatchVerdict& verdict) {
  State& state = ctx.state;
  const model::WorkerKey worker = run.progress().worker();
  ++state.counters().refusals;
  switch (verdict.refusal) {
    case Refusal::OldEpoch:
      ctx.out.term_ends = TermEnds{"a worker refused a dispatch: it knows a higher epoch"};
      return;
    case Refusal::WrongLife:
      ask_inventory(ctx, worker);
      return;
    case Refusal::Tombstoned:  // its end was stored once, in a database that has gone back since
      end_dead(ctx, run);
      return;
    case Refusal::UnknownHandler:
    case Refusal::Malformed: {
      model::Outcome outcome;
      outcome.state = RunState::Failed;
      outcome.reason = verdict.refusal == Refusal::UnknownHandler ? Reason::HandlerUnknown
                                                                  : Reason::RefusedByWorker;
      outcome.message = verdict.detail;
      run.set_outcome(outcome);
      finish_run(ctx, run, RunState::Failed, outcome.reason);
      return;
    }
    case Refusal::Draining:  // the leader has not heard of it yet
      choose_again(ctx, run, verdict.detail);
      return ask_inventory(ctx, worker);
    default:
      break;
  }
  choose_again(ctx, run, verdict.detail);
}

/// An answer that is missing counts as one that came now.
void note_answer_time(Context& ctx, const RunEntry& run) {
  if (run.life() == nullptr || !run.progress().dispatched()) return;
  LifeEntry& life = *ctx.state.find_life(run.progress().worker());
  ctx.state.workers().note_answer(life, ctx.now.wall - *run.progress().dispatched());
  judge_signs(ctx, life);
}

void apply_verdict(Context& ctx, const model::WorkerKey& worker, const DispatchVerdict& verdict) {
  State& state = ctx.state;
  RunEntry* run = state.find_run(verdict.attempt.run);
  if (run == nullptr || !run->is_held() || run->attempt() != verdict.attempt ||
      run->progress().worker() != worker) {
    return;
  }
  if (run->send.in_flight > 0) --run->send.in_flight;
  switch (verdict.kind) {
    case DispatchVerdict::Kind::Accepted:
      if (!run->send.accepted && run->progress().dispatched()) {
        const Millis took = ctx.now.wall - *run->progress().dispatched();
        state.counters().dispatch_latency.add(static_cast<double>(took.count()) / 1000.0);
        note_answer_time(ctx, *run);
      }
      run->send.accepted = true;
      run->send.unclear = false;
      state.runs().timers().clear(run->id(), RunTimer::DispatchRetry);
      if (run->progress().state == RunState::Dispatched) mark_running(ctx, *run, ctx.now.wall);
      if (run->progress().cancel_asked || run->handed_over) send_cancel(ctx, *run);
      return;
    case DispatchVerdict::Kind::Refused:
      if (!run->send.accepted) apply_refusal(ctx, *run, verdict);
      return;
    case DispatchVerdict::Kind::Unknown:
      ++state.counters().unclear_dispatches;
      if (run->send.accepted) return;
      note_answer_time(ctx, *run);
      run->send.unclear = true;
      state.runs().timers().set(run->id(), RunTimer::DispatchRetry,
                                ctx.now.mono + state.options().dispatch_retry);
      return;
  }
}

}  // namespace

Reason blocked_reason(const State& state, const SlotQueueKey& queue) {
  const Standing standing = state.workers().standing_for(queue);
  if (standing.accepting > 0) return Reason::AllSlotsBusy;
  if (standing.reconciled > 0) return Reason::WorkersDraining;
  if (!state.listings().is_listed()) return Reason::WorkersSettling;
  if (standing.present > 0) return Reason::WorkerUnreconciled;
  if (!queue.demand.is_plain()) {
    SlotQueueKey narrow = queue;
    narrow.demand = {};
    if (state.workers().standing_for(narrow).present > 0) return Reason::NoWorkerHas;
  }
  const SlotQueueKey any_handler{queue.pool, queue.worker, {}, Gate::Any, queue.select, queue.except};
  const bool are_selected = state.workers().standing_for(any_handler).present > 0;
  if (are_selected) return Reason::HandlerUnknown;
  return queue.worker.empty() ? Reason::NoWorkerInPool : Reason::NamedWorkerAbsent;
}

/// A database that went back may lack attempts that workers hold. So all workers say what they hold before
/// any run is sent. The leader does not wait long for one that cannot be asked.
bool have_all_inventories(const State& state, MonoTime now) {
  if (now - state.began() >= kMostInventoryWait) return true;
  if (!state.listings().is_listed()) return false;
  for (const auto& [key, life] : state.workers().lives()) {
    if (life.is_present() && !life.is_reconciled()) return false;
  }
  return true;
}

/// Runs that have begun to wait for a worker with the labels of `prefer`: when they take any.
void time_preferences(Context& ctx) {
  State& state = ctx.state;
  for (const auto& [id, until] : state.take_preferring()) {
    const RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->in_slot_queue() || !run->prefers()) continue;
    const Millis left = std::clamp(until - state.core_time(), Millis{0}, run->rules().prefer_for);
    state.runs().timers().set(id, RunTimer::Prefer, ctx.now.mono + left);
  }
}

/// Runs for which a limit is kept, and which cannot start for another reason by now: their turn tells.
void look_at_kept_limits(State& state) {
  for (const RunId id : state.quotas().kept()) {
    const RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->in_slot_queue()) continue;
    const SlotQueueKey key = slot_queue_of(*run);
    const bool may = state.workers().may_serve(key) && state.tokens().would_get(key);
    if (!may) state.workers().mark_pool(key.pool);
  }
}

void pump_slot_queues(Context& ctx) {
  State& state = ctx.state;
  time_preferences(ctx);
  look_at_kept_limits(state);
  if (state.awaits_inventories()) {
    state.set_awaits_inventories(!have_all_inventories(state, ctx.now.mono));
  }
  if (state.awaits_inventories()) return explain_waiting(ctx);
  for (;;) {
    for (const std::string& pool : state.tokens().take_pools()) state.workers().mark_pool(pool);
    for (const std::string& pool : state.quotas().take_pools()) state.workers().mark_pool(pool);
    if (state.workers().marked_pools().empty()) return;
    const std::string pool = next_marked(state);
    state.workers().unmark_pool(pool);  // first: a run that ends here may let another of its job into a queue
    pump_pool(ctx, pool);
  }
}

void set_backstop(Context& ctx, const RunEntry& run) {
  const Millis limit = limit_of_attempt(ctx.state, run).most;
  if (limit <= Millis{0}) return;
  const Millis after = limit + run.rules().kill_grace + kBackstopSlack;
  ctx.state.runs().timers().set(run.id(), RunTimer::Backstop, ctx.now.mono + after);
}

/// Until the worker has said what it holds, nothing is sent again: its answer to hello decides that.
void retry_dispatch(Context& ctx, RunEntry& run) {
  State& state = ctx.state;
  if (!run.is_held() || run.send.accepted) return;
  const LifeEntry* life = state.find_life(run.progress().worker());
  if (life != nullptr && life->is_present() && !life->is_reconciled()) {
    state.runs().timers().set(run.id(), RunTimer::DispatchRetry, ctx.now.mono + kUnreconciledPause);
  } else {
    send_attempt(ctx, run);
  }
}

void send_attempt(Context& ctx, RunEntry& run) {
  State& state = ctx.state;
  LifeEntry* life = run.life();
  CHECK_OR_DIE(life != nullptr, "an attempt's worker is not known");
  if (run.send.in_flight > 0) run.send.unclear = true;
  ++run.send.in_flight;
  ++state.counters().dispatches;
  DispatchItem item = item_of(state, run);
  item.schedule = entries_due(ctx, run);
  dispatch_to(*life, ctx.out).items.push_back(std::move(item));
}

void send_cancel(Context& ctx, RunEntry& run) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(run.progress().worker());
  if (life == nullptr) return;
  ++state.counters().cancels;
  ctx.out.sends.push_back(
      SendCancel{life->key(), life->info().address, {run.attempt()}, cancel_grace(run)});
  state.runs().timers().set(run.id(), RunTimer::CancelRepeat,
                            ctx.now.mono + run.rules().kill_grace + kCancelRepeatSlack);
}

void mark_running(Context& ctx, RunEntry& run, WallTime started) {
  State& state = ctx.state;
  if (run.progress().state != RunState::Running) {
    std::string why_it_ends = run.progress().cancel_asked ? run.progress().detail() : std::string();
    state.set_state(run, RunState::Running, Reason::None, std::move(why_it_ends));
    state.runs().timers().set(run.id(), RunTimer::LazyWrite, ctx.now.mono + kLazyWrite);
  }
  run.set_started(started);
}

void handle_dispatch_answered(Context& ctx, const DispatchAnswered& event) {
  for (const DispatchVerdict& verdict : event.verdicts) apply_verdict(ctx, event.worker, verdict);
}

}  // namespace rota::master::core
