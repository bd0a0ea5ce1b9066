#include "master/api/key_floors.h"

#include <algorithm>

#include "common/model/request_key.h"

namespace rota::master::api {

std::optional<core::UnusedKeys> KeyFloors::vouch(Epoch term, const std::string& principal,
                                                 const std::vector<std::string>& keys, MonoTime now) {
  const auto is_own = [](const std::string& key) {
    return key >= model::kOwnKeyPrefix && key < model::kOwnKeyEnd;
  };
  if (!std::ranges::all_of(keys, is_own)) return std::nullopt;
  const auto floor = floor_of(term, principal, now);
  if (!floor) return std::nullopt;
  const bool are_above = std::ranges::all_of(keys, [&](const std::string& key) { return key > floor->key; });
  return are_above ? std::optional(floor->read) : std::nullopt;
}

std::optional<KeyFloors::Floor> KeyFloors::floor_of(Epoch term, const std::string& principal, MonoTime now) {
  {
    std::scoped_lock lock(mutex_);
    if (distrusted_until_ && now < *distrusted_until_) return std::nullopt;
    const auto found = floors_.find(principal);
    const bool stands = found != floors_.end() && found->second.read.term == term &&
                        now - found->second.read.read_at < kReadEvery;
    if (stands) return found->second;
  }
  auto greatest = reader_.greatest_own_key(principal);
  if (!greatest) return std::nullopt;
  const Floor fresh{{term, now}, std::move(*greatest)};
  std::scoped_lock lock(mutex_);
  if (floors_.size() >= kPrincipalsMost && !floors_.contains(principal)) floors_.clear();
  floors_[principal] = fresh;
  return fresh;
}

void KeyFloors::distrust(MonoTime now) {
  std::scoped_lock lock(mutex_);
  distrusted_until_ = now + kDistrust;
}

}  // namespace rota::master::api
