// The highest epoch that this worker ever saw, per cluster, on disk: what a deposed leader is refused by,
// through restarts too (P8). On a full disk as well: without it no leader could greet the worker.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/spared_file.h"

namespace rota::worker::desk {

/// Thread: any.
class EpochKeeper {
 public:
  explicit EpochKeeper(std::string path) : file_(std::move(path)) {}

  /// Reads the file; none is fine. Corrupt: it holds something else, which an operator must look at.
  Result<void> load();
  /// Stores the epoch if it is higher than the kept one, synced when this returns. Gives the highest.
  Result<Epoch> raise(const std::string& cluster_uuid, Epoch epoch);
  Epoch highest(const std::string& cluster_uuid) const;

 private:
  const SparedFile file_;
  mutable std::mutex mutex_;
  std::map<std::string, Epoch> epochs_;
};

}  // namespace rota::worker::desk
