// What WorkerTable notes of workers for the orders in which routes look for them.
#include "master/core/tables/worker_table.h"

#include <utility>

namespace rota::master::core {

/// It has been used as often as others of its pool on average, so that it is not flooded.
void WorkerTable::begin_figures(LifeEntry& life) {
  std::int64_t uses = 0, others = 0;
  for (const auto& [key, other] : lives_) {
    if (!other.present_ || &other == &life || other.info_.pool != life.info_.pool) continue;
    uses += other.figures_.uses();
    ++others;
  }
  const auto turn = turns_.find(life.info_.pool);
  if (weights_ != LoadWeights{}) life.figures_.weigh(weights_);
  life.figures_.begin(life.key().id, seed_, others == 0 ? 0 : uses / others,
                      turn == turns_.end() ? 0 : turn->second, life.info_.weight);
}

/// A worker computes its load by the weights that are built in; by others the leader does.
void WorkerTable::note_vitals(LifeEntry& life, model::WorkerVitals vitals) {
  const std::int32_t more = life.used_slots_ - static_cast<std::int32_t>(life.attempts_.size());
  const bool is_other = life.figures_.note_vitals(vitals, weights_, life.info_.slots, more);
  if (weights_ != LoadWeights{}) vitals.load_percent = life.figures_.load_percent();
  life.set_vitals(vitals);
  if (is_other) refresh_open(life);
}

void WorkerTable::set_load_weights(const LoadWeights& weights) {
  if (std::exchange(weights_, weights) == weights) return;
  for (auto& [key, life] : lives_) {
    life.figures_.weigh(weights);
    if (life.info_.vitals) note_vitals(life, *life.info_.vitals);
    if (life.present_) refresh_open(life);
  }
}

void WorkerTable::note_answer(LifeEntry& life, Millis took) {
  if (life.figures_.note_answer(took)) refresh_open(life);
}

void WorkerTable::set_half(LifeEntry& life, bool half) {
  if (life.figures_.set_half(half)) refresh_open(life);
}

void WorkerTable::pass_over(const model::WorkerKey& key) {
  LifeEntry& life = *find_life(key);
  life.figures_.note_pass();
  life.last_used_ = ++dispatch_ordinal_;
  refresh_open(life);
}

// --- holds

const model::WorkerHold* WorkerTable::find_hold(const std::string& id) const {
  const auto found = holds_.find(id);
  return found == holds_.end() ? nullptr : &found->second;
}

void WorkerTable::put_hold(const model::WorkerHold& hold) {
  if (hold.ended) {
    holds_.erase(hold.worker);
    hold_timers_.clear(hold.worker, HoldTimer::End);
  } else {
    holds_.insert_or_assign(hold.worker, hold);
  }
  refresh_all(hold.worker);
  mark_pool(hold.pool);
}

PoolCount WorkerTable::count_in(const std::string& pool) const {
  PoolCount count;
  for (const auto& [key, life] : lives_) {
    if (!life.present_ || life.info_.pool != pool || is_draining(life)) continue;
    ++count.here;
    const model::WorkerHold* hold = find_hold(key.id);
    if (hold != nullptr && hold->is_closed()) ++count.left_out;
  }
  return count;
}

}  // namespace rota::master::core
