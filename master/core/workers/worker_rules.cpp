#include "master/core/workers/worker_rules.h"

#include <algorithm>
#include <set>

#include "master/core/attempts/attempt_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/attempts/confirm_rules.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/workers/drain_rules.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/workers/inventory_rules.h"
#include "master/core/notices.h"
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
  row.key = life.info.key;
  row.address = life.info.address;
  row.pool = life.info.pool;
  row.joined = life.joined;
  row.seen_in = life.seen_in;
  return row;
}

/// A reason that is told at once and written only when it lasts.
void note_reason(Context& ctx, RunEntry& run, Reason reason) {
  if (run.progress().reason == reason) return;
  run.progress().reason = reason;
  ctx.state.run_timers.set(run.row.id, RunTimer::LazyWrite, ctx.now.mono + kCutOffWrite);
}

bool is_present_on_home(const State& state, const WorkerEntry& worker, const std::string& id) {
  return std::ranges::any_of(worker.present, [&](const std::string& incarnation) {
    return is_on_home_of_attempts(state, model::WorkerKey{id, incarnation});
  });
}

/// hello to the life that is alone with its id; a second life waits until the first one's node is gone.
void greet(Context& ctx, const std::string& id) {
  const auto found = ctx.state.workers.find(id);
  if (found == ctx.state.workers.end()) return;
  const WorkerEntry& worker = found->second;
  for (const std::string& incarnation : worker.present) {
    const model::WorkerKey key{id, incarnation};
    LifeEntry* life = ctx.state.find_life(key);
    ctx.state.refresh(*life);
    if (worker.present.size() != 1) {
      life->why = "another life of this worker is still registered";
    } else if (!life->reconciled) {
      send_hello(ctx, key);
    } else {
      life->why.clear();  // the other one has left
    }
  }
}

/// No node of the home that holds its attempts is left, or none was there when all were listed.
void begin_absence(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  WorkerEntry& worker = state.worker_of(id);
  if (worker.absent_since) return;
  worker.absent_since = ctx.now.mono;
  for (const RunId run_id : state.runs_on(id)) {
    RunEntry& run = *state.find_run(run_id);
    note_reason(ctx, run, Reason::WaitsForFence);
    state.run_timers.clear(run_id, RunTimer::DispatchRetry);
    state.run_timers.set(run_id, RunTimer::Fence,
                         fence_of(state, worker, *worker.absent_since, *run.rules));
  }
}

void end_absence(Context& ctx, const std::string& id) {
  State& state = ctx.state;
  WorkerEntry& worker = state.worker_of(id);
  if (!worker.absent_since) return;
  worker.absent_since.reset();
  note_return(ctx, id);
  for (const RunId run_id : state.runs_on(id)) {
    state.run_timers.clear(run_id, RunTimer::Fence);
    state.past_fence.erase(run_id);
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
  const bool was_present = std::exchange(life.present, false);
  ctx.state.refresh(life);  // leaves the pool that it stood in
  const model::WorkerInfo known = std::exchange(life.info, info);
  life.present = true;
  life.unseen = false;
  if (was_present && life.has_fresh_figures) life.info.vitals = known.vitals;
  const std::int64_t seen_before = std::exchange(life.seen_in, ctx.state.zookeeper_number);
  if (was_present && life.seen_in != seen_before) ctx.out.changes.lives.push_back(row_of(life));
  if (was_present) {
    tell_own_stop(ctx, known, info);
    return apply_drain_ack_of_node(life, known);
  }
  life.joined = info.started == WallTime{} ? ctx.at : info.started;
  life.last_beat.reset();
  life.has_fresh_figures = false;
  life.left.reset();
  ctx.state.departed.erase(info.key.id);
  ctx.state.longest_lease = std::max(ctx.state.longest_lease, lease_of(life));
  expect_renewal(ctx, info.key);
  life.why = "hello is not answered yet";
  ctx.out.changes.lives.push_back(row_of(life));
  tell(ctx, "worker is here", {{"worker", info.key.id},
                               {"life", info.key.incarnation},
                               {"pool", info.pool},
                               {"slots", std::to_string(info.slots)}});
}

void tell_departure(Context& ctx, const LifeEntry& life) {
  NoticeKeys keys = {{"worker", life.info.key.id},
                     {"life", life.info.key.incarnation},
                     {"why", life.why},
                     {"attempts", std::to_string(life.attempts.size())}};
  life.why == kWasStopped ? tell(ctx, "worker is gone", std::move(keys))
                          : warn(ctx, "worker is gone", std::move(keys));
}

}  // namespace

void handle_worker_seen(Context& ctx, const WorkerSeen& event) {
  State& state = ctx.state;
  const std::string& id = event.info.key.id;
  LifeEntry& life = state.life_of(event.info.key);
  const bool is_new = !life.present;
  apply_info(ctx, life, event.info);
  WorkerEntry& worker = state.worker_of(id);
  worker.present.insert(event.info.key.incarnation);
  state.pools_to_pump.insert(event.info.pool);
  if (is_present_on_home(state, worker, id)) {
    end_absence(ctx, id);
  } else if (state.listed) {
    begin_absence(ctx, id);
  }
  if (is_new && state.listed) {
    greet(ctx, id);
  } else {
    follow_drain(ctx, life);
    state.refresh(life);
  }
}

void handle_worker_gone(Context& ctx, const WorkerGone& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.key);
  if (life == nullptr || !life->present) return;
  WorkerLife row = row_of(*life);
  row.left = life->left = ctx.at;
  row.why_left = life->why = why_it_left(*life);
  ctx.out.changes.lives.push_back(std::move(row));
  tell_departure(ctx, *life);
  life->present = false;
  life->reconciled = false;
  life->hello_in_flight = false;
  state.life_timers.clear_all(event.key);
  state.refresh(*life);
  note_lease(ctx, *life);
  WorkerEntry& worker = state.worker_of(event.key.id);
  worker.present.erase(event.key.incarnation);
  if (worker.present.empty()) note_departed(ctx, *life);
  state.pools_to_pump.insert(life->info.pool);  // who waits there says why anew
  if (state.listed && !is_present_on_home(state, worker, event.key.id)) begin_absence(ctx, event.key.id);
  state.forget_life_if_done(event.key);
  if (state.listed) greet(ctx, event.key.id);
}

namespace {

void apply_first_listing(Context& ctx) {
  State& state = ctx.state;
  state.listed = true;
  std::set<std::string> ids;
  for (const auto& [key, life] : state.lives) ids.insert(key.id);
  for (const std::string& id : ids) {
    if (!is_present_on_home(state, state.worker_of(id), id)) begin_absence(ctx, id);
    greet(ctx, id);
  }
  end_open_rows(ctx);
  for (const auto& [key, queue] : state.slot_queues) state.pools_to_pump.insert(key.pool);
}

void give_up_attempt(Context& ctx, RunEntry& run) {
  model::Outcome outcome;
  outcome.state = RunState::Lost;
  outcome.reason = Reason::WorkerLost;
  outcome.message = "worker " + run.progress().worker.id + " went away with the attempt";
  outcome.ended = ctx.at;
  ++ctx.state.counters.redispatches;
  end_attempt(ctx, run, EndProof::FencePassed, outcome);
}

/// The first listing of a ZooKeeper that is new: who stands in it was seen there.
void apply_listing_of_new(Context& ctx) {
  State& state = ctx.state;
  state.replaced_listing = 0;
  for (auto& [key, life] : state.lives) {
    if (!life.present) continue;
    life.unseen = false;
    life.seen_in = state.zookeeper_number;
    ctx.out.changes.lives.push_back(row_of(life));
  }
}

}  // namespace

bool waits_unseen(Context& ctx, RunEntry& run) {
  const LifeEntry* life = ctx.state.find_life(run.progress().worker);
  if (life == nullptr || !life->unseen) return false;
  note_reason(ctx, run, Reason::WorkerUnseen);
  ctx.state.run_timers.set(run.row.id, RunTimer::Fence, ctx.now.mono + kUnseenLook);
  return true;
}

void handle_workers_listed(Context& ctx, const WorkersListed& event) {
  State& state = ctx.state;
  if (!state.listed) apply_first_listing(ctx);
  const auto waiting = state.past_fence;
  for (const auto& [id, asked] : waiting) {
    if (asked > event.asked || !state.past_fence.contains(id)) continue;
    state.past_fence.erase(id);
    if (!waits_unseen(ctx, *state.find_run(id))) give_up_attempt(ctx, *state.find_run(id));
  }
  if (state.replaced_listing != 0 && event.asked >= state.replaced_listing) apply_listing_of_new(ctx);
}

void handle_zookeeper_replaced(Context& ctx, const ZookeeperReplaced& event) {
  State& state = ctx.state;
  state.zookeeper_number = event.number;
  for (auto& [key, life] : state.lives) life.unseen = !life.attempts.empty();
  if (ctx.out.list_workers == 0) ctx.out.list_workers = ++state.listings_asked;
  state.replaced_listing = ctx.out.list_workers;
}

void handle_unseen_gone(Context& ctx) {
  for (auto& [key, life] : ctx.state.lives) {
    if (!std::exchange(life.unseen, false)) continue;
    for (const RunId id : life.attempts) ctx.state.run_timers.set(id, RunTimer::Fence, ctx.now.mono);
  }
}

namespace {

/// Why a life is not greeted beside attempts of its id on another home.
std::string waits_for_other_home(const State& state, const std::string& id) {
  const auto runs = state.runs_on(id);
  const bool asks = std::ranges::any_of(runs, [&](RunId run) {
    return state.find_run(run)->progress().reason == Reason::WaitsForConfirmation;
  });
  return asks ? "runs of this id on another host or state folder wait: rota worker confirm-dead " + id
              : "attempts of this id on another host or state folder have not passed their fence yet";
}

}  // namespace

void send_hello(Context& ctx, const model::WorkerKey& key) {
  LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->present || life->reconciled || life->hello_in_flight) return;
  if (ctx.state.worker_of(key.id).present.size() != 1) return;
  if (!is_on_home_of_attempts(ctx.state, key)) {
    life->why = waits_for_other_home(ctx.state, key.id);
    ctx.state.life_timers.set(key, LifeTimer::Hello, ctx.now.mono + ctx.state.options.hello_retry);
    return;
  }
  end_absence(ctx, key.id);
  life->hello_in_flight = true;
  ++ctx.state.counters.hellos;
  ctx.state.life_timers.clear(key, LifeTimer::Hello);
  ctx.out.sends.push_back(SendHello{key, life->info.address});
}

void ask_inventory(Context& ctx, const model::WorkerKey& key) {
  LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->present) return;
  life->reconciled = false;
  life->why = "asked again what it holds";
  ctx.state.refresh(*life);
  ctx.state.pools_to_pump.insert(life->info.pool);
  send_hello(ctx, key);
}

void handle_hello_answered(Context& ctx, const HelloAnswered& event) {
  State& state = ctx.state;
  const model::WorkerKey& key = event.inventory.worker;
  if (event.inventory.highest_epoch > state.epoch) {
    ctx.out.term_ends = TermEnds{"worker " + key.id + " knows a higher epoch"};
    return;
  }
  LifeEntry* life = state.find_life(key);
  if (life == nullptr || !life->present) return;
  life->hello_in_flight = false;
  life->failed_hellos = 0;
  if (state.worker_of(key.id).present.size() != 1) return;  // greeted again when it is alone
  if (!is_on_home_of_attempts(state, key)) return send_hello(ctx, key);
  life->reconciled = true;
  life->heard = ctx.now.mono;
  life->why.clear();
  reconcile(ctx, *life, event.inventory);
  if (LifeEntry* still = state.find_life(key)) {
    apply_drain_ack(ctx, *still, event.inventory.drain);
    follow_drain(ctx, *still);
    state.refresh(*still);
    state.pools_to_pump.insert(still->info.pool);
  }
}

void handle_hello_failed(Context& ctx, const HelloFailed& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.worker);
  if (life == nullptr || !life->present) return;
  life->hello_in_flight = false;
  life->reconciled = false;
  life->why = event.detail;
  state.refresh(*life);
  const std::int32_t doublings = std::min(life->failed_hellos++, kHelloDoublings);
  state.life_timers.set(event.worker, LifeTimer::Hello,
                        ctx.now.mono + state.options.hello_retry * (1 << doublings));
}

}  // namespace rota::master::core
