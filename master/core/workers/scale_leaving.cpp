#include "master/core/workers/scale_leaving.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "master/core/workers/drain_rules.h"
#include "master/core/workers/scale_rules.h"

namespace rota::master::core {

using model::HookState;
using model::ScaleChange;

namespace {

/// In the stored drain, so that no later leader takes such a worker back.
const std::string kMayBeStopped = "autoscale: its hook may stop life ";

std::string drain_words(const std::string& pool) {
  return "autoscale: pool " + pool + " has more workers than are wanted";
}

bool is_named(const model::WorkerKey& key, const std::vector<model::WorkerKey>& keys) {
  return std::ranges::find(keys, key) != keys.end();
}

void drain_for_scale(Context& ctx, const std::string& id, const std::string& pool, bool draining) {
  DrainWorker event;
  event.principal = kAutoscaler;
  event.worker = id;
  event.draining = draining;
  event.why = draining ? drain_words(pool) : "autoscale";
  handle_drain_worker(ctx, event);
}

/// What the drain, which stands, says from now on.
void say_in_drain(Context& ctx, const std::string& id, std::string why) {
  model::WorkerDrain drain = *ctx.state.workers().find_drain(id);
  drain.why = std::move(why);
  ctx.out.changes.drains.push_back(drain);
  ctx.state.workers().begin_drain(std::move(drain));
}

/// Runs wait there for this worker and no other: they are lost when it goes.
bool is_waited_for(const State& state, const std::string& pool, const std::string& id) {
  const SlotQueueKey first{pool, id, ""};
  if (state.slot_queues().find(first) != nullptr) return true;
  const auto later = state.slot_queues().after(first);
  return !later.empty() && later.begin()->first.pool == pool && later.begin()->first.worker == id;
}

std::string pool_of_leaving(const State& state, const std::string& id) {
  for (const auto& [key, life] : state.workers().lives_of(id)) {
    if (life.is_present()) return life.info().pool;
  }
  const DepartedWorker* departed = state.departed().find(id);
  return departed == nullptr ? std::string() : departed->info.pool;
}

/// What has become of those that were asked to leave. Gives false when it leaves no more.
bool follow_leaving(Context& ctx, const std::string& id, LeavingWorker& worker) {
  State& state = ctx.state;
  if (!drains_for_scale(state, id)) return false;
  if (worker.pool.empty()) worker.pool = pool_of_leaving(state, id);
  const auto& present = lives_here(state, id);
  if (!worker.named && !present.empty() && is_waited_for(state, worker.pool, id)) {
    drain_for_scale(ctx, id, worker.pool, false);
    return false;
  }
  const bool is_another = !present.empty() && worker.named && !present.contains(worker.named->incarnation);
  if (is_another && !may_be_told_of(state, worker)) {  // it was started again
    worker.named.reset();
    say_in_drain(ctx, id, drain_words(worker.pool));
  }
  if (state.workers().has_life(id) || !present.empty() || may_be_told_of(state, worker)) return true;
  drain_for_scale(ctx, id, worker.pool, false);
  return false;
}

}  // namespace

const std::set<std::string>& lives_here(const State& state, const std::string& id) {
  static const std::set<std::string> kNone;
  const WorkerEntry* worker = state.workers().find_worker(id);
  return worker == nullptr ? kNone : worker->present();
}

bool drains_for_scale(const State& state, const std::string& id) {
  const model::WorkerDrain* drain = state.workers().find_drain(id);
  return drain != nullptr && drain->principal == kAutoscaler;
}

bool may_be_told_of(const State& state, const LeavingWorker& worker) {
  const auto found = state.scaling().pools().find(worker.pool);
  if (found == state.scaling().pools().end()) return false;
  const PoolScale& scale = found->second;
  const auto names = [&](const std::optional<ScaleChange>& row) {
    return row && worker.named && is_named(*worker.named, row->stoppable);
  };
  const bool is_open = scale.newest && scale.newest->state == HookState::Open;
  return names(scale.flying) || (is_open && names(scale.newest));
}

std::vector<model::WorkerKey> stoppable_in(const State& state, const std::string& pool) {
  std::vector<model::WorkerKey> named;
  for (const auto& [id, worker] : state.scaling().leaving()) {
    if (worker.pool != pool || !worker.named || named.size() >= model::kMaxStoppable) continue;
    if (lives_here(state, id).contains(worker.named->incarnation)) named.push_back(*worker.named);
  }
  return named;
}

bool names_others(const State& state, const std::string& pool, const PoolScale& scale) {
  const std::vector<model::WorkerKey> named = stoppable_in(state, pool);
  static const std::vector<model::WorkerKey> kNone;
  const auto& told = scale.newest ? scale.newest->stoppable : kNone;
  const bool is_open = scale.newest && scale.newest->state == HookState::Open;
  const auto lacks = [](const auto& those) {
    return [&those](const model::WorkerKey& key) { return !is_named(key, those); };
  };
  return std::ranges::any_of(named, lacks(told)) || (is_open && std::ranges::any_of(told, lacks(named)));
}

void follow_all_leaving(Context& ctx) {
  auto& leaving = ctx.state.scaling().leaving();
  for (auto at = leaving.begin(); at != leaving.end();) {
    at = follow_leaving(ctx, at->first, at->second) ? std::next(at) : leaving.erase(at);
  }
}

void let_workers_go(Context& ctx, const std::string& pool, std::size_t count) {
  State& state = ctx.state;
  std::vector<ScaleCandidate> all;
  for (const auto& [key, life] : state.workers().lives()) {
    if (!life.is_present() || life.info().pool != pool) continue;
    if (state.workers().find_drain(key.id) != nullptr || !life.info().drain_told) continue;
    if (is_waited_for(state, pool, key.id)) continue;
    all.push_back({key, life.attempts().size(), state.workers().may_accept(life), life.joined});
  }
  for (const ScaleCandidate& one : who_goes(std::move(all), count)) {
    state.scaling().leaving()[one.key.id].pool = pool;
    drain_for_scale(ctx, one.key.id, pool, true);
  }
}

void take_workers_back(Context& ctx, const std::string& pool, std::size_t count) {
  auto& leaving = ctx.state.scaling().leaving();
  for (auto at = leaving.begin(); at != leaving.end() && count > 0;) {
    const bool is_free = at->second.pool == pool && !at->second.named;
    const bool may = is_free && !lives_here(ctx.state, at->first).empty();
    if (!may) {
      ++at;
      continue;
    }
    drain_for_scale(ctx, at->first, pool, false);
    at = leaving.erase(at);
    --count;
  }
}

void name_drained(Context& ctx, const std::string& pool) {
  for (auto& [id, worker] : ctx.state.scaling().leaving()) {
    const auto& present = lives_here(ctx.state, id);
    if (worker.pool != pool || worker.named || present.size() != 1) continue;
    const LifeEntry* life = ctx.state.find_life({id, *present.begin()});
    const bool knows = life != nullptr && life->is_reconciled() && life->info().draining;
    if (!knows || !ctx.state.workers().runs_on(id).empty()) continue;
    worker.named = life->key();
    say_in_drain(ctx, id, kMayBeStopped + life->key().incarnation);
  }
}

LeavingCount count_leaving(const State& state, const std::string& pool) {
  LeavingCount count;
  for (const auto& [id, worker] : state.scaling().leaving()) {
    if (worker.pool != pool) continue;
    count.here += static_cast<std::int64_t>(lives_here(state, id).size());
    for (const auto& [key, life] : state.workers().lives_of(id)) count.slots += life.used_slots();
  }
  return count;
}

std::int64_t drained_by_others(const State& state, const std::string& pool) {
  std::int64_t count = 0;
  for (const auto& [id, drain] : state.workers().drains()) {
    if (drain.principal == kAutoscaler) continue;
    for (const auto& [key, life] : state.workers().lives_of(id)) {
      count += life.is_present() && life.info().pool == pool ? 1 : 0;
    }
  }
  return count;
}

void recover_leaving(State& state) {
  for (const auto& [id, drain] : state.workers().drains()) {
    if (drain.principal != kAutoscaler) continue;
    LeavingWorker& worker = state.scaling().leaving()[id];
    if (!drain.why.starts_with(kMayBeStopped)) continue;
    worker.named = model::WorkerKey{id, drain.why.substr(kMayBeStopped.size())};
  }
}

}  // namespace rota::master::core
