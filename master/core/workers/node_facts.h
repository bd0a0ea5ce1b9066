// What the leader has noted beside the loop: what workers did today, and which pools are short of slots. For
// people. Immutable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "master/core/tables/work_table.h"

namespace rota::master::core {

/// A pool in which less than the reserve has been free for long.
struct PoolShortage {
  std::string pool;                      ///< empty: all pools
  WallTime since{};
  std::string words;                     ///< shortage_words
};

struct NodeFacts {
  WallTime day{};                        ///< what was done since then is counted: midnight (UTC), or later
  std::map<std::string, WorkerWork> today;  ///< by worker
  std::vector<PoolShortage> shortages;
};

}  // namespace rota::master::core
