#include "worker/warden/resting_keepers.h"

#include <utility>

namespace rota::worker::warden {

std::string keeper_kind(const std::string& space, const std::optional<User>& user, std::uint32_t own_uid) {
  if (space.empty() || (user ? user->uid : own_uid) == 0) return {};
  std::string kind = space + '\n';
  if (!user) return kind;
  kind += std::to_string(user->uid) + ' ' + std::to_string(user->gid);
  for (const std::uint32_t group : user->groups) kind += ' ' + std::to_string(group);
  return kind;
}

void RestingKeepers::put(ServingKeeper keeper, MonoTime now) {
  if (keeper.served >= kMostServed) return;
  keeper.since = now;
  keepers_.push_back(std::move(keeper));
  if (keepers_.size() > most_) keepers_.pop_front();
}

std::optional<ServingKeeper> RestingKeepers::take(const std::string& kind) {
  for (std::size_t i = keepers_.size(); i-- > 0;) {
    if (keepers_[i].kind != kind) continue;
    ServingKeeper keeper = std::move(keepers_[i]);
    keepers_.erase(keepers_.begin() + static_cast<std::ptrdiff_t>(i));
    return keeper;
  }
  return std::nullopt;
}

void RestingKeepers::expire(MonoTime now) {
  while (!keepers_.empty() && now >= keepers_.front().since + kLongest) keepers_.pop_front();
}

std::optional<MonoTime> RestingKeepers::next_end() const {
  if (keepers_.empty()) return std::nullopt;
  return keepers_.front().since + kLongest;
}

}  // namespace rota::worker::warden
