// ZooKeeper as a simulated world has it: workers' nodes and candidates, each gone when its session was
// not heard of for its timeout. While it is down nothing expires.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"

namespace rota::sim {

inline constexpr Millis kWorkerSession{6000};
inline constexpr Millis kMasterSession{4000};

struct SimZookeeper {
  struct Node {
    model::WorkerInfo info;
    MonoTime expires{};
  };
  struct Candidate {
    std::size_t master = 0;
    MonoTime expires{};
  };

  bool up = true;
  Epoch epoch;
  std::map<model::WorkerKey, Node> nodes;
  std::map<std::int64_t, Candidate> candidates;  ///< by sequence
  std::int64_t next_sequence = 1;

  /// True when a worker's node went.
  bool expire(MonoTime now) {
    if (!up) return false;
    std::erase_if(candidates, [now](const auto& c) { return c.second.expires <= now; });
    return std::erase_if(nodes, [now](const auto& n) { return n.second.expires <= now; }) > 0;
  }
  /// Back again: every session counts anew.
  void come_up(MonoTime now) {
    up = true;
    for (auto& [key, node] : nodes) node.expires = now + kWorkerSession;
    for (auto& [sequence, candidate] : candidates) candidate.expires = now + kMasterSession;
  }
};

}  // namespace rota::sim
