// The highest epoch that this worker ever saw, per cluster, on disk. A deposed leader is refused by it,
// also after a restart (P8). It can be stored even when the disk is full: otherwise no leader could greet
// the worker.
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
