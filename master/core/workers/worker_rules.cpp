#include "master/core/workers/worker_rules.h"

#include <algorithm>
#include <set>

#include "master/core/attempts/attempt_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/attempts/confirm_rules.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/workers/drain_rules.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/workers/inventory_rules.h"
#include "master/core/notices.h"
#include "master/core/workers/start_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

constexpr std::int32_t kHelloDoublings = 5;
constexpr Millis kCutOffWrite{1000};
constexpr Millis kUnseenLook{5000};  // pause between two looks at a run whose worker was never seen

WorkerLife row_of(const LifeEntry& life) {
  WorkerLife row;
  row.key = life.key();
  row.address = life.info().address;
  row.pool = life.info().pool;
  row.joined = life.joined;
  row.seen_in = life.seen_in;
  row.slots = life.info().slots;
  row.offers = life.info().offers;
  return row;
}

/// A reason that queries show at once and that is written only when it lasts.
void note_reason(Context& ctx, RunEntry& run, Reason reason) {
  if (run.progress().reason == reason) return;
  run.set_reason(reason);
  ctx.state.runs().timers().set(run.id(), RunTimer::LazyWrite, ctx.now.mono + kCutOffWrite);
}

bool is_present_on_home(const State& state, const WorkerEntry& worker, const std::string& id) {
  return std::ranges::any_of(worker.present(), [&](const std::string& incarnation) {
    return is_on_home_of_attempts(state, model::WorkerKey{id, incarnation});
  });
}

/// Sends hello to the only life of an id; a second life waits until the node of the first is gone.
void greet(Context& ctx, const std::string& id) {
  const WorkerEntry* worker = ctx.state.workers().find_worker(id);
  if (worker == nullptr) return;
  for (const std::string& incarnation : worker->present()) {
    const model::WorkerKey key{id, incarnation};
    LifeEntry* life = ctx.state.find_life(key);
    if (worker->present().size() != 1) {
      life->why = "another life of this worker is still registered";
    } else if (!life->is_reconciled()) {
      send_hello(ctx, key);
    } else {
      life->why.clear();  // the other one has left
    }
  }
}

/// No node is left on the home that holds its attempts, or none was there in the first listing.
void begin_absence(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  WorkerEntry& worker = state.workers().worker_of(id);
  if (worker.absent_since) return;
  worker.absent_since = ctx.now.mono;
  for (const RunId run_id : state.workers().runs_on(id)) {
    RunEntry& run = *state.find_run(run_id);
    note_reason(ctx, run, Reason::WaitsForFence);
    state.runs().timers().clear(run_id, RunTimer::DispatchRetry);
    state.runs().timers().set(run_id, RunTimer::Fence,
                              fence_of(state, worker, *worker.absent_since, run.rules()));
  }
}

void end_absence(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  WorkerEntry& worker = state.workers().worker_of(id);
  if (!worker.absent_since) return;
  worker.absent_since.reset();
  note_return(ctx, id);
  for (const RunId run_id : state.workers().runs_on(id)) {
    state.runs().timers().clear(run_id, RunTimer::Fence);
    state.listings().stop_waiting(run_id);
    stop_asking(*state.find_run(run_id));
    note_reason(ctx, *state.find_run(run_id), Reason::WorkerUnreconciled);
  }
}

/// It was told to stop on its own host.
void tell_own_stop(Context& ctx, const model::WorkerInfo& before, const model::WorkerInfo& now) {
  if (!now.stops_at || before.stops_at) return;
  tell(ctx, "worker is stopping", {{"worker", now.key.id}, {"hands_over_at", second_text(*now.stops_at)}});
}

void apply_info(Context& ctx, LifeEntry& life, const model::WorkerInfo& info) {
  const bool was_present = life.is_present();
  const model::WorkerInfo known = ctx.state.workers().show_node(life, info);
  life.unseen = false;
  if (was_present && life.has_fresh_figures) life.set_vitals(known.vitals);
  const std::int64_t seen_before = std::exchange(life.seen_in, ctx.state.listings().zookeeper_number());
  if (was_present && life.seen_in != seen_before) ctx.out.changes.lives.push_back(row_of(life));
  if (was_present) {
    tell_own_stop(ctx, known, info);
    return apply_drain_ack_of_node(ctx, life, known);
  }
  life.joined = info.started == WallTime{} ? ctx.at : info.started;
  life.last_beat.reset();
  life.has_fresh_figures = false;
  life.left.reset();
  ctx.state.departed().forget(info.key.id);
  ctx.state.expects().note_back(info.key.id);
  ctx.state.workers().note_lease(lease_of(life));
  expect_renewal(ctx, info.key);
  life.why = "hello is not answered yet";
  ctx.out.changes.lives.push_back(row_of(life));
  tell(ctx, "worker is here", {{"worker", info.key.id},
                               {"life", info.key.incarnation},
                               {"pool", info.pool},
                               {"slots", std::to_string(info.slots)}});
}

void tell_departure(Context& ctx, const LifeEntry& life) {
  NoticeKeys keys = {{"worker", life.key().id},
                     {"life", life.key().incarnation},
                     {"why", life.why},
                     {"attempts", std::to_string(life.attempts().size())}};
  life.why == kWasStopped ? tell(ctx, "worker is gone", std::move(keys))
                          : warn(ctx, "worker is gone", std::move(keys));
}

}  // namespace

void handle_worker_seen(Context& ctx, const WorkerSeen& event) {
  State& state = ctx.state;
  const std::string& id = event.info.key.id;
  LifeEntry& life = state.workers().life_of(event.info.key);
  const bool is_new = !life.is_present();
  apply_info(ctx, life, event.info);
  state.workers().mark_pool(event.info.pool);
  if (is_present_on_home(state, state.workers().worker_of(id), id)) {
    end_absence(ctx, id);
  } else if (state.listings().is_listed()) {
    begin_absence(ctx, id);
  }
  if (is_new && state.listings().is_listed()) {
    note_life_here(ctx, life);
    greet(ctx, id);
  } else {
    follow_drain(ctx, life);
  }
}

void handle_worker_gone(Context& ctx, const WorkerGone& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.key);
  if (life == nullptr || !life->is_present()) return;
  WorkerLife row = row_of(*life);
  row.left = life->left = ctx.at;
  row.why_left = life->why = why_it_left(*life);
  ctx.out.changes.lives.push_back(std::move(row));
  tell_departure(ctx, *life);
  life->hello_in_flight = false;
  state.workers().hide_node(*life);
  note_lease(ctx, *life);
  const WorkerEntry& worker = state.workers().worker_of(event.key.id);
  if (worker.present().empty()) note_departed(ctx, *life);
  note_start_gone(ctx, *life);
  note_life_lost(ctx, *life);
  keep_within_third(ctx, life->info().pool);
  state.workers().mark_pool(life->info().pool);  // who waits there says why anew
  const bool is_listed = state.listings().is_listed();
  if (is_listed && !is_present_on_home(state, worker, event.key.id)) begin_absence(ctx, event.key.id);
  state.workers().forget_life_if_done(event.key);
  if (is_listed) greet(ctx, event.key.id);
}

namespace {

void apply_first_listing(Context& ctx) {
  State& state = ctx.state;
  state.listings().set_listed();
  std::set<std::string> ids;
  for (const auto& [key, life] : state.workers().lives()) ids.insert(key.id);
  for (const std::string& id : ids) {
    if (!is_present_on_home(state, state.workers().worker_of(id), id)) begin_absence(ctx, id);
    greet(ctx, id);
  }
  end_open_rows(ctx);
  store_recovered_holds(ctx);
  watch_absent_starts(ctx);
  for (const auto& [key, queue] : state.slot_queues().all()) state.workers().mark_pool(key.pool);
}

void give_up_attempt(Context& ctx, RunEntry& run) {
  model::Outcome outcome;
  outcome.state = RunState::Lost;
  outcome.reason = Reason::WorkerLost;
  outcome.message = "worker " + run.progress().worker().id + " went away with the attempt";
  outcome.ended = ctx.at;
  ++ctx.state.counters().redispatches;
  end_attempt(ctx, run, EndProof::FencePassed, outcome);
}

/// The first listing of a new ZooKeeper: workers in it have been seen there.
void apply_listing_of_new(Context& ctx) {
  State& state = ctx.state;
  for (auto& [key, life] : state.workers().lives()) {
    if (!life.is_present()) continue;
    life.unseen = false;
    life.seen_in = state.listings().zookeeper_number();
    ctx.out.changes.lives.push_back(row_of(life));
  }
}

}  // namespace

bool waits_unseen(Context& ctx, RunEntry& run) {
  const LifeEntry* life = ctx.state.find_life(run.progress().worker());
  if (life == nullptr || !life->unseen) return false;
  note_reason(ctx, run, Reason::WorkerUnseen);
  ctx.state.runs().timers().set(run.id(), RunTimer::Fence, ctx.now.mono + kUnseenLook);
  return true;
}

void handle_workers_listed(Context& ctx, const WorkersListed& event) {
  State& state = ctx.state;
  if (!state.listings().is_listed()) apply_first_listing(ctx);
  const auto waiting = state.listings().waiting();
  for (const auto& [id, asked] : waiting) {
    if (asked > event.asked || !state.listings().is_waiting(id)) continue;
    state.listings().stop_waiting(id);
    if (!waits_unseen(ctx, *state.find_run(id))) give_up_attempt(ctx, *state.find_run(id));
  }
  if (state.listings().shows_new(event.asked)) apply_listing_of_new(ctx);
}

void handle_zookeeper_replaced(Context& ctx, const ZookeeperReplaced& event) {
  State& state = ctx.state;
  state.listings().set_zookeeper_number(event.number);
  for (auto& [key, life] : state.workers().lives()) life.unseen = !life.attempts().empty();
  if (ctx.out.list_workers == 0) ctx.out.list_workers = state.listings().ask();
  state.listings().await_new(ctx.out.list_workers);
}

void handle_unseen_gone(Context& ctx) {
  for (auto& [key, life] : ctx.state.workers().lives()) {
    if (!std::exchange(life.unseen, false)) continue;
    for (const RunId id : life.attempts()) ctx.state.runs().timers().set(id, RunTimer::Fence, ctx.now.mono);
  }
}

namespace {

/// Why a life is not greeted while its id has attempts on another home.
std::string waits_for_other_home(const State& state, const std::string& id) {
  const auto runs = state.workers().runs_on(id);
  const bool asks = std::ranges::any_of(runs, [&](RunId run) {
    return state.find_run(run)->progress().reason == Reason::WaitsForConfirmation;
  });
  return asks ? "runs of this id on another host or state folder wait: rota worker confirm-dead " + id
              : "attempts of this id on another host or state folder have not passed their fence yet";
}

}  // namespace

void send_hello(Context& ctx, const model::WorkerKey& key) {
  LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->is_present() || life->is_reconciled() || life->hello_in_flight) return;
  if (ctx.state.workers().worker_of(key.id).present().size() != 1) return;
  if (!is_on_home_of_attempts(ctx.state, key)) {
    life->why = waits_for_other_home(ctx.state, key.id);
    ctx.state.workers().timers().set(key, LifeTimer::Hello, ctx.now.mono + ctx.state.options().hello_retry);
    return;
  }
  end_absence(ctx, key.id);
  life->hello_in_flight = true;
  ++ctx.state.counters().hellos;
  ctx.state.workers().timers().clear(key, LifeTimer::Hello);
  ctx.out.sends.push_back(SendHello{key, life->info().address});
}

void ask_inventory(Context& ctx, const model::WorkerKey& key) {
  LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->is_present()) return;
  life->why = "asked again what it holds";
  ctx.state.workers().set_reconciled(*life, false);
  ctx.state.workers().mark_pool(life->info().pool);
  send_hello(ctx, key);
}

void handle_hello_answered(Context& ctx, const HelloAnswered& event) {
  State& state = ctx.state;
  const model::WorkerKey& key = event.inventory.worker;
  if (event.inventory.highest_epoch > state.epoch()) {
    ctx.out.term_ends = TermEnds{"worker " + key.id + " knows a higher epoch"};
    return;
  }
  LifeEntry* life = state.find_life(key);
  if (life == nullptr || !life->is_present()) return;
  life->hello_in_flight = false;
  life->failed_hellos = 0;
  if (state.workers().worker_of(key.id).present().size() != 1) return;  // greeted again when it is alone
  if (!is_on_home_of_attempts(state, key)) return send_hello(ctx, key);
  state.workers().set_reconciled(*life, true);
  life->heard = ctx.now.mono;
  life->why.clear();
  reconcile(ctx, *life, event.inventory);
  if (const LifeEntry* still = state.find_life(key)) note_start_here(ctx, *still);
  if (LifeEntry* still = state.find_life(key)) {
    apply_drain_ack(ctx, *still, event.inventory.drain);
    follow_drain(ctx, *still);
    state.workers().mark_pool(still->info().pool);
  }
}

/// It will refuse all that this leader ever says: without an end of the Term a drained worker could never be
/// resumed, nor a run on it be cancelled.
void handle_epoch_refused(Context& ctx, const EpochRefused& event) {
  ctx.out.term_ends = TermEnds{"worker " + event.worker.id + " refused a message: it knows a higher epoch"};
}

void handle_hello_failed(Context& ctx, const HelloFailed& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.worker);
  if (life == nullptr || !life->is_present()) return;
  life->hello_in_flight = false;
  life->why = event.detail;
  state.workers().set_reconciled(*life, false);
  const std::int32_t doublings = std::min(life->failed_hellos++, kHelloDoublings);
  state.workers().timers().set(event.worker, LifeTimer::Hello,
                               ctx.now.mono + state.options().hello_retry * (1 << doublings));
}

}  // namespace rota::master::core
