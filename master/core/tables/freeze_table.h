// Freezes that are in force, or whose ticks are not all made up for; after a rewind of the ticks also those
// that lie ahead. Mostly there is none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/model/freeze.h"
#include "master/core/tables/walk.h"

namespace rota::master::core {

/// So many at once: each tick is compared with all of them while there are any.
inline constexpr std::size_t kFreezesMost = 100;

/// Thread: the Scheduler's.
class FreezeTable {
 public:
  bool empty() const { return freezes_.empty(); }
  std::size_t size() const { return freezes_.size(); }
  auto all() const { return walk(freezes_); }
  auto all() { return walk(freezes_); }
  void put(model::Freeze freeze) { freezes_.insert_or_assign(freeze.id, std::move(freeze)); }
  const model::Freeze* find(std::int64_t id) const {
    const auto found = freezes_.find(id);
    return found == freezes_.end() ? nullptr : &found->second;
  }
  void erase(std::int64_t id) { freezes_.erase(id); }

  /// The one that covers the tick; null: none.
  const model::Freeze* covering(const std::string& space, WallTime tick) const {
    for (const auto& [id, freeze] : freezes_) {
      if (freeze.is_of(space) && freeze.covers(tick)) return &freeze;
    }
    return nullptr;
  }
  /// Where the next one begins that covers something after `tick`.
  std::optional<WallTime> next_begin(const std::string& space, WallTime tick) const {
    std::optional<WallTime> next;
    for (const auto& [id, freeze] : freezes_) {
      if (freeze.is_of(space) && freeze.from >= tick && (!next || freeze.from < *next)) next = freeze.from;
    }
    return next;
  }
  /// `through`, or where the first of them begins: ticks from there on may be planned once more.
  WallTime planned_from(WallTime through) const {
    for (const auto& [id, freeze] : freezes_) through = std::min(through, freeze.from);
    return through;
  }
  /// One that is in force and has jobs in common with this namespace (empty: all); null: none.
  const model::Freeze* in_force(const std::string& space, WallTime now) const {
    for (const auto& [id, freeze] : freezes_) {
      const bool meets = space.empty() || freeze.space.empty() || space == freeze.space;
      if (meets && !freeze.done && now < freeze.end()) return &freeze;
    }
    return nullptr;
  }

 private:
  std::map<std::int64_t, model::Freeze> freezes_;
};

}  // namespace rota::master::core
