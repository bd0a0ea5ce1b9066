#include "master/core/tables/catch_up_table.h"

#include <algorithm>

#include "common/base/check.h"

namespace rota::master::core {

bool CatchUpQueue::holds(const RunEntry& run) const {
  const auto of_job = jobs_.find(run.row().job);
  return of_job != jobs_.end() && of_job->second.contains(run.id());
}

bool CatchUpTable::holds(const RunEntry& run) const {
  const SlotQueueKey key = slot_queue_of(run);
  const auto pool = pools_.find(key.pool);
  if (pool == pools_.end()) return false;
  const auto queue = pool->second.queues.find(key);
  return queue != pool->second.queues.end() && queue->second.holds(run);
}

std::optional<MonoTime> CatchUpTable::wake() const {
  std::optional<MonoTime> first;
  if (empty()) return first;
  for (const auto& [name, pool] : pools_) {
    if (pool.wake) first = std::min(first.value_or(*pool.wake), *pool.wake);
  }
  return first;
}

void CatchUpTable::enter(const RunEntry& run) {
  const SlotQueueKey key = slot_queue_of(run);
  CatchUpPool& pool = pools_[key.pool];
  pool.queues[key].jobs_[run.row().job].insert(run.id());
  ++pool.size;
  ++size_;
}

void CatchUpTable::leave(const RunEntry& run) {
  const SlotQueueKey key = slot_queue_of(run);
  CatchUpPool& pool = pools_[key.pool];
  CatchUpQueue& queue = pool.queues[key];
  const auto of_job = queue.jobs_.find(run.row().job);
  CHECK_OR_DIE(of_job != queue.jobs_.end(), "a run is missing among those to be caught up");
  of_job->second.erase(run.id());
  if (of_job->second.empty()) queue.jobs_.erase(of_job);
  if (queue.empty()) pool.queues.erase(key);
  --size_;
  if (--pool.size == 0) pool.wake.reset();
}

}  // namespace rota::master::core
