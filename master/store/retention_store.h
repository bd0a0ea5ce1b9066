// What the leader asks and notes when it deletes output that was kept long enough. It does not go through the
// loop and is not fenced: stored rows decide what is due, so a deposed leader would delete the same.
#pragma once

#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::store {

/// A run as retention sees it.
struct LoggedRun {
  RunId run;
  bool is_final = false;
  WallTime ended{};     ///< never before it was recorded, whatever a worker's clock said
  Millis keep_logs{0};  ///< as the newest version of its job says: 0 the default, -1 forever
};

/// Thread: any. Errors: Unavailable, TimedOut.
class RetentionStore {
 public:
  virtual ~RetentionStore() = default;
  /// Those of the runs that the store knows, in order. One question.
  virtual Result<std::vector<LoggedRun>> logged_runs(const std::vector<RunId>& runs) = 0;
  /// From now on what is missing of their output is known to be deleted. Repeating changes nothing.
  virtual Result<void> note_pruned(const std::vector<RunId>& runs, WallTime at) = 0;
};

}  // namespace rota::master::store
