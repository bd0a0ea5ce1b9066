// The rows of the simulated database, which are the memory store's, and how far they are judged; a copy of
// them is a backup.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "master/store/memory/memory_tables.h"

namespace rota::sim {

struct SimTables : master::store::MemoryTables {
  /// A new gap row that is not judged yet, and how much it was seen to cover.
  struct OpenGap {
    model::Gap row;
    std::int64_t covered = 0;
  };

  std::map<JobId, WallTime> judged_through; ///< every tick up to here was found exactly once
  std::vector<OpenGap> open_gaps;
  std::map<JobId, std::set<RunId>> unfinished;  ///< runs by their jobs
};

}  // namespace rota::sim
