// Request keys that this Term has seen, so that a repeat gets the answer of the first. Kept for a time, and
// at most so many: who repeats later is answered by the store.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

/// Thread: the Scheduler's.
class KeyMemory {
 public:
  static constexpr std::size_t kKeysMost = 200'000;

  struct Seen {
    std::string hash;                  ///< of what was asked for
    RunId run;
  };

  /// Null: this Term has not seen it, or not for long.
  const Seen* find(const std::string& principal, const std::string& key) const;
  void remember(const std::string& principal, const std::string& key, Seen seen, MonoTime until);
  void forget_old(MonoTime now);

 private:
  using Key = std::pair<std::string, std::string>;  ///< principal and request key
  void forget_first();

  std::map<Key, Seen> seen_;
  std::deque<std::pair<MonoTime, Key>> order_;      ///< until when
};

}  // namespace rota::master::core
