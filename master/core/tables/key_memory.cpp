#include "master/core/tables/key_memory.h"

namespace rota::master::core {

const KeyMemory::Seen* KeyMemory::find(const std::string& principal, const std::string& key) const {
  const auto found = seen_.find({principal, key});
  return found == seen_.end() ? nullptr : &found->second;
}

void KeyMemory::remember(const std::string& principal, const std::string& key, Seen seen, MonoTime until) {
  seen_[{principal, key}] = std::move(seen);
  order_.push_back({until, {principal, key}});
  if (order_.size() > kKeysMost) forget_first();
}

void KeyMemory::forget_old(MonoTime now) {
  while (!order_.empty() && order_.front().first <= now) forget_first();
}

void KeyMemory::forget_first() {
  seen_.erase(order_.front().second);
  order_.pop_front();
}

}  // namespace rota::master::core
