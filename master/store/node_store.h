// What the leader notes of workers and pools each minute, and deletes when it was kept long enough. It does
// not go through the loop and is not fenced: rows name the epoch of who looked, and a deposed leader would
// delete the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/node_minute.h"
#include "master/core/tables/work_table.h"

namespace rota::master::store {

/// Of one minute, or of a few.
struct MinuteRows {
  std::vector<model::WorkerMinute> workers;
  std::vector<model::PoolMinute> pools;
  bool empty() const { return workers.empty() && pools.empty(); }
};

/// Thread: one at a time. Errors: Unavailable, TimedOut; it may be done then, and a repeat does no harm.
class NodeStore {
 public:
  virtual ~NodeStore() = default;
  /// The same rows again change nothing; rows of the same name are replaced.
  virtual Result<void> keep_minutes(const MinuteRows& rows) = 0;
  /// What workers did in minutes that began then or later, summed up; what this leader noted is left out.
  virtual Result<std::map<std::string, core::WorkerWork>> work_since(WallTime minute, Epoch leader) = 0;
  /// Deletes minutes that began before, a few at a time. True: there are more.
  virtual Result<bool> erase_minutes(WallTime before) = 0;
  /// Deletes at most `most` lives that ended before, or that another life followed before. Those that hold an
  /// attempt stay. Gives how many were deleted.
  virtual Result<std::int64_t> erase_lives(WallTime before, std::int32_t most) = 0;
};

}  // namespace rota::master::store
