// What must be looked at later, ordered by when. Each owner has at most one timer of each kind.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/time.h"

namespace rota::master::core {

/// Thread: the owner's.
template <typename Owner, typename Kind>
class TimerIndex {
 public:
  /// Sets, or moves, the timer.
  void set(const Owner& owner, Kind kind, MonoTime at) {
    clear(owner, kind);
    due_.insert({at, owner, kind});
    when_.insert({{owner, kind}, at});
  }

  void clear(const Owner& owner, Kind kind) {
    const auto found = when_.find({owner, kind});
    if (found == when_.end()) return;
    due_.erase({found->second, owner, kind});
    when_.erase(found);
  }

  void clear_all(const Owner& owner) {
    for (auto at = when_.lower_bound({owner, Kind{}}); at != when_.end() && at->first.first == owner;) {
      due_.erase({at->second, owner, at->first.second});
      at = when_.erase(at);
    }
  }

  bool has(const Owner& owner, Kind kind) const { return when_.contains({owner, kind}); }

  std::optional<MonoTime> first() const {
    if (due_.empty()) return std::nullopt;
    return std::get<0>(*due_.begin());
  }

  /// Takes the first timer out if it is due.
  std::optional<std::pair<Owner, Kind>> pop_due(MonoTime now) {
    if (due_.empty() || std::get<0>(*due_.begin()) > now) return std::nullopt;
    const auto [at, owner, kind] = *due_.begin();
    clear(owner, kind);
    return std::pair{owner, kind};
  }

  bool empty() const { return due_.empty(); }

 private:
  std::set<std::tuple<MonoTime, Owner, Kind>> due_;
  std::map<std::pair<Owner, Kind>, MonoTime> when_;
};

}  // namespace rota::master::core
