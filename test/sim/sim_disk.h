// The outbox file of a simulated host, in production's own format: unsynced data may be torn when the host
// dies, and a stored bit may flip.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/model/worker.h"
#include "random.h"

namespace rota::sim {

/// Thread: one. Owned by a worker.
class SimDisk {
 public:
  /// Appends an outcome; it is safe once synced.
  void write(const model::AttemptReport& report);
  /// The leader has it. Never synced, because repeating a report is harmless.
  void forget(model::AttemptKey key);
  void sync();
  /// The host dies: only a first part of the unsynced data survives.
  void tear(Random& dice);
  /// Flips one bit of the synced data; false when there is none.
  bool flip(Random& dice);
  /// The folder is gone.
  void wipe();

  /// What a new life of the proper reads from it, like the reporter.
  std::map<model::AttemptKey, model::AttemptReport> read();
  bool was_torn() const { return torn_; }
  /// Outcomes that were read but never written like that; must be empty.
  bool altered() const { return altered_; }

 private:
  std::string file_, unsynced_;
  std::map<model::AttemptKey, std::set<std::string>> written_;  ///< for the judge: each written record
  bool torn_ = false;
  bool altered_ = false;
};

}  // namespace rota::sim
