// The outbox file of a simulated host, in production's own format: what was not synced may be torn when
// the host dies, and a bit may flip while it lies there.
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
  /// An outcome that is to be kept; safe once synced.
  void write(const model::AttemptReport& report);
  /// The leader has it. Never synced: repeating a report is harmless.
  void forget(model::AttemptKey key);
  void sync();
  /// The host dies: of what was not synced some first part is there.
  void tear(Random& dice);
  /// One bit of what was synced; false when there is nothing.
  bool flip(Random& dice);
  /// The folder is gone.
  void wipe();

  /// What a new life of the proper reads from it, as the reporter does.
  std::map<model::AttemptKey, model::AttemptReport> read();
  bool was_torn() const { return torn_; }
  /// Outcomes that were read and never written like that; empty is right.
  bool altered() const { return altered_; }

 private:
  std::string file_, unsynced_;
  std::map<model::AttemptKey, std::set<std::string>> written_;  ///< for the judge: each record as it was written
  bool torn_ = false;
  bool altered_ = false;
};

}  // namespace rota::sim
