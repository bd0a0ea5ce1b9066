// What the leader reads and deletes of runs and gap rows that were kept long enough. It does not go through
// the loop and is not fenced: stored rows decide what is due, so a deposed leader would delete the same.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::store {

/// A run as retention sees it.
struct PastRun {
  RunId run;
  JobId job;
  std::optional<WallTime> tick;
  bool is_final = false;
  WallTime recorded{};
  WallTime ended{};     ///< never before it was recorded, whatever a worker's clock said
  Millis keep_runs{0};  ///< as the newest version of its job says: 0 the default, -1 forever
};

/// What names a gap row.
struct GapKey {
  JobId job;
  JobVersion version = 0;
  WallTime from{};
  auto operator<=>(const GapKey&) const = default;
};

struct PastGap {
  GapKey key;
  WallTime to{};
  Millis keep_runs{0};  ///< likewise
};

/// Thread: one at a time. Errors: Unavailable, TimedOut; it may be done then, and a repeat does no harm.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;
  /// The shortest time that a saved job's runs are kept, of those that name one; nothing: none does.
  virtual Result<std::optional<Millis>> shortest_keep() = 0;
  /// The next runs, and the next gap rows, in the order of their names. One question or two.
  virtual Result<std::vector<PastRun>> past_runs(RunId after, std::int32_t limit) = 0;
  virtual Result<std::vector<PastGap>> past_gaps(const GapKey& after, std::int32_t limit) = 0;
  /// From now on nobody expects rows of these jobs' ticks up to these moments. It never goes back.
  virtual Result<void> forget_through(const std::map<JobId, WallTime>& moments) = 0;
  /// Deletes the runs with all that is theirs but output, in one short transaction; and one-offs' jobs that
  /// have no run any more. What is not final stays.
  virtual Result<void> erase_runs(const std::vector<PastRun>& runs) = 0;
  virtual Result<void> erase_gaps(const std::vector<GapKey>& gaps) = 0;
};

}  // namespace rota::master::store
