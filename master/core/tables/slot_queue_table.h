// Runs that could start and wait for a slot of one pool, or of one named worker in it. Fair between jobs:
// they take turns, each gives its oldest run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/model/run.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/slot_queue_key.h"
#include "master/core/tables/walk.h"

namespace rota::master::core {

/// One queue. It lives as long as a run waits in it.
class SlotQueue {
 public:
  model::Reason blocked = model::Reason::None;  ///< why its runs wait

  /// The run whose turn it is; the turn passes on.
  RunId pass_turn();
  bool empty() const { return jobs_.empty(); }
  bool holds(const RunEntry& run) const {
    const auto of_job = jobs_.find(run.row().job);
    return of_job != jobs_.end() && of_job->second.contains(run.id());
  }
  auto jobs() const { return walk(jobs_); }

 private:
  friend class SlotQueueTable;
  std::map<JobId, IdSet<RunId>> jobs_;
  JobId last_job_;                     ///< whose turn was last
};

/// Thread: the Scheduler's. State alone puts runs in and takes them out.
class SlotQueueTable {
 public:
  SlotQueue* find(const SlotQueueKey& key);
  const SlotQueue* find(const SlotQueueKey& key) const;
  /// Why a run that stands in its queue waits.
  model::Reason blocked(const RunEntry& run) const;
  std::vector<SlotQueueKey> of_pool(const std::string& pool) const;
  auto all() const { return walk(queues_); }
  /// Queues behind this one, in order.
  auto after(const SlotQueueKey& key) const { return Walk(queues_.upper_bound(key), queues_.end()); }

 private:
  friend class State;
  void enter(RunEntry& run, const SlotQueueKey& key);
  void leave(RunEntry& run);

  std::map<SlotQueueKey, SlotQueue> queues_;    ///< none is empty
};

}  // namespace rota::master::core
