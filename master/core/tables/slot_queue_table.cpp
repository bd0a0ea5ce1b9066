#include "master/core/tables/slot_queue_table.h"

#include <utility>

#include "common/base/check.h"
#include "master/core/tables/job_table.h"

namespace rota::master::core {

Gate gate_of(model::RouteKind route) {
  switch (route) {
    case model::RouteKind::First: return Gate::First;
    case model::RouteKind::Last: return Gate::Last;
    case model::RouteKind::Failover: return Gate::Failover;
    default: return Gate::Any;
  }
}

SlotQueueKey slot_queue_of(const KeptRules& rules) {
  return {rules.pool, rules.route == model::RouteKind::Named ? rules.worker : std::string{},
          rules.handler, gate_of(rules.route), rules.select};
}

TokenNeeds needs_of(const RunEntry& run) {
  TokenNeeds uses;
  for (const auto& [name, count] : run.rules().uses) uses.emplace(SemaphoreName{run.job().row.space(), name}, count);
  return uses;
}

SlotQueueKey slot_queue_of(const RunEntry& run) {
  SlotQueueKey key = slot_queue_of(run.rules());
  if (run.is_bound()) key.gate = Gate::Any;
  if (run.is_bound()) key.worker = run.progress().start().worker;
  const bool moves = run.rules().retry.another_worker == model::AnotherWorker::Require &&
                     key.worker.empty() && run.progress().first_dispatched();
  if (moves) key.except = run.progress().worker().id;
  key.uses = needs_of(run);
  return key;
}

RunId SlotQueue::pass_turn() {
  auto at = jobs_.upper_bound(last_job_);
  if (at == jobs_.end()) at = jobs_.begin();
  last_job_ = at->first;
  return *at->second.begin();
}

SlotQueue* SlotQueueTable::find(const SlotQueueKey& key) {
  const auto found = queues_.find(key);
  return found == queues_.end() ? nullptr : &found->second;
}

const SlotQueue* SlotQueueTable::find(const SlotQueueKey& key) const {
  const auto found = queues_.find(key);
  return found == queues_.end() ? nullptr : &found->second;
}

model::Reason SlotQueueTable::blocked(const RunEntry& run) const {
  const SlotQueue* queue = find(slot_queue_of(run));
  CHECK_OR_DIE(queue != nullptr, "a run's queue is missing");
  return queue->blocked;
}

std::vector<SlotQueueKey> SlotQueueTable::of_pool(const std::string& pool) const {
  std::vector<SlotQueueKey> keys;
  for (auto at = queues_.lower_bound({pool, "", ""}); at != queues_.end() && at->first.pool == pool; ++at) {
    keys.push_back(at->first);
  }
  return keys;
}

void SlotQueueTable::enter(RunEntry& run, const SlotQueueKey& key) {
  SlotQueue& queue = queues_[key];
  queue.jobs_[run.row().job].insert(run.id());
  run.queue_ = &queue;
  run.in_slot_queue_ = true;
}

void SlotQueueTable::leave(RunEntry& run) {
  if (!run.in_slot_queue_) return;
  run.in_slot_queue_ = false;
  SlotQueue& queue = *std::exchange(run.queue_, nullptr);
  const auto of_job = queue.jobs_.find(run.row().job);
  CHECK_OR_DIE(of_job != queue.jobs_.end(), "a run is missing in its queue");
  of_job->second.erase(run.id());
  if (of_job->second.empty()) queue.jobs_.erase(of_job);
  if (queue.jobs_.empty()) queues_.erase(slot_queue_of(run));
}

}  // namespace rota::master::core
