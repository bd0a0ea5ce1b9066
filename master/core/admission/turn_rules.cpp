#include "master/core/admission/turn_rules.h"

namespace rota::master::core {

PoolTurns::PoolTurns(const SlotQueueTable& table, const std::vector<SlotQueueKey>& keys,
                     const QuotaTable* quotas)
    : table_(table), quotas_(quotas) {
  queues_.reserve(keys.size());
  for (const SlotQueueKey& key : keys) {
    queues_.push_back(&key);
    const SlotQueue* queue = table_.find(key);
    if (queue == nullptr) continue;
    for (const auto& [space, turns] : queue->turns()) {
      const auto of_name = table_.spaces().find(std::string(space));
      heads_[of_name->first].emplace(*turns.begin(), queues_.size() - 1);
      ranks_.insert(rank_of(of_name->second));
    }
  }
}

std::optional<PoolTurns::Next> PoolTurns::next() {
  while (!ranks_.empty()) {
    const Rank first = *ranks_.begin();
    const std::string& name = std::get<std::string>(first);
    const auto space = table_.spaces().find(name);
    const bool has_runs = space != table_.spaces().end();
    if (has_runs && rank_of(space->second) != first) {
      ranks_.erase(ranks_.begin());
      ranks_.insert(rank_of(space->second));
      continue;
    }
    if (has_runs && quotas_ != nullptr && quotas_->is_full(model::QuotaOf::Space, name)) {
      passed_.push_back(name);
    } else if (has_runs) {
      if (auto next = next_of(heads_[name], name)) return next;
    }
    ranks_.erase(ranks_.begin());      // nothing of it waits
  }
  return std::nullopt;
}

std::optional<PoolTurns::Next> PoolTurns::next_of(std::set<Head>& heads, const std::string& space) {
  while (!heads.empty()) {
    const auto [turn, queue] = *heads.begin();
    const std::set<Turn>* turns = turns_of(queue, space);
    if (turns != nullptr && *turns->begin() == turn) return Next{queue, turn.head};
    heads.erase(heads.begin());
    if (turns != nullptr) heads.emplace(*turns->begin(), queue);
  }
  return std::nullopt;
}

const std::set<Turn>* PoolTurns::turns_of(std::size_t queue, const std::string& space) const {
  if (queues_[queue] == nullptr || (!closed_.empty() && closed_.contains({queue, space}))) return nullptr;
  const SlotQueue* standing = table_.find(*queues_[queue]);
  if (standing == nullptr) return nullptr;
  const auto of_space = standing->turns().find(space);
  return of_space == standing->turns().end() ? nullptr : &of_space->second;
}

}  // namespace rota::master::core
