// Groups of workers (worker_group.h): which there are, and who belongs to them.
#include <algorithm>

#include "master/core/tables/worker_table.h"

namespace rota::master::core {

/// Then runs of that queue need no group: every worker of the pool will do.
bool WorkerTable::all_know(const SlotQueueKey& queue) const {
  if (queue.handler.empty()) return true;
  const auto knowing = knowing_.find({queue.pool, queue.handler});
  const std::int32_t present = standing_of(queue.pool).present;
  return knowing != knowing_.end() && knowing->second == present;
}

void WorkerTable::count_handlers(const LifeEntry& life, std::int32_t by) {
  const std::set<std::string> handlers(life.info_.handlers.begin(), life.info_.handlers.end());
  for (const std::string& handler : handlers) {
    const auto [knowing, is_new] = knowing_.try_emplace({life.info_.pool, handler});
    knowing->second += by;
    if (knowing->second == 0) knowing_.erase(knowing);
  }
}

const OpenWorkers& WorkerTable::open_for(const SlotQueueKey& queue) const {
  return all_know(queue) ? open_in(queue.pool) : group_for(queue).open;
}

const WorkerGroup& WorkerTable::group_for(const SlotQueueKey& queue) const {
  const GroupKey key{queue.pool, queue.handler};
  auto found = groups_.find(key);
  if (found == groups_.end()) {
    if (groups_.size() >= kGroupsMost) drop_a_group();
    found = groups_.try_emplace(key).first;
    for (const auto& [life_key, life] : lives_) {
      if (!belongs(life.info_, key)) continue;
      life.groups_.push_back(&found->second);
      found->second.open.change(life_key, {}, life.open_load_);
      count_anew(found->second.standing, {}, life.counted_);
    }
  }
  found->second.asked = ++group_ordinal_;
  return found->second;
}

/// The one that nobody has asked for the longest.
void WorkerTable::drop_a_group() const {
  const auto oldest = std::ranges::min_element(
      groups_, std::ranges::less{}, [](const auto& group) { return group.second.asked; });
  for (const auto& [key, life] : lives_) std::erase(life.groups_, &oldest->second);
  groups_.erase(oldest);
}

/// Its node says something new; it stands in none of its former groups any more.
void WorkerTable::join_groups(LifeEntry& life) {
  life.groups_.clear();
  for (auto& [key, group] : groups_) {
    if (belongs(life.info_, key)) life.groups_.push_back(&group);
  }
}

}  // namespace rota::master::core
