// Runs that stand for late ticks and wait for their turn: they start at a rate, and after all that is live
// (admission/catch_up_rules.h). They are stored as waiting, so a new leader finds them again. Jobs take
// turns, each gives its oldest run.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/admission/late_rules.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/slot_queue_key.h"

namespace rota::master::core {

/// Those that will enter one slot queue.
class CatchUpQueue {
 public:
  bool empty() const { return jobs_.empty(); }
  bool holds(const RunEntry& run) const;
  /// Gives the turn to the next job that `may_start`; looks at no more than so many. 0: none of them may.
  template <typename MayStart>
  RunId pass_turn(int most, MayStart may_start) {
    auto at = jobs_.upper_bound(last_job_);
    const std::size_t all = jobs_.size();
    for (std::size_t looked = 0; looked < all && most > 0; ++looked, --most) {
      if (at == jobs_.end()) at = jobs_.begin();
      last_job_ = at->first;
      if (may_start(at->first)) return *at->second.begin();
      ++at;
    }
    return RunId{};
  }
  std::size_t jobs() const { return jobs_.size(); }

 private:
  friend class CatchUpTable;
  std::map<JobId, IdSet<RunId>> jobs_;
  JobId last_job_;                     ///< whose turn was last
};

/// What waits in one pool.
struct CatchUpPool {
  std::map<SlotQueueKey, CatchUpQueue> queues;
  Pace pace;
  std::size_t size = 0;
  std::optional<MonoTime> wake;        ///< when the next may start; empty: it waits for something else
};

/// Thread: the Scheduler's. State alone puts runs in and takes them out.
class CatchUpTable {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::map<std::string, CatchUpPool>& pools() { return pools_; }
  const std::map<std::string, CatchUpPool>& pools() const { return pools_; }
  bool holds(const RunEntry& run) const;
  /// When a pool may start one, the first of all.
  std::optional<MonoTime> wake() const;

 private:
  friend class State;
  void enter(const RunEntry& run);
  void leave(const RunEntry& run);

  std::map<std::string, CatchUpPool> pools_;  ///< an empty one stays: its pace counts on
  std::size_t size_ = 0;
};

}  // namespace rota::master::core
