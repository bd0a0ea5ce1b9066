// A look at a few entries of the State after each turn in production, so that all are seen again and again at
// a price that does not grow with them. What is broken stays so and is met within a bounded number of turns.
#pragma once

#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/model/worker.h"
#include "master/core/tables/slot_queue_key.h"
#include "master/core/violation.h"

namespace rota::master::core {

class State;

/// Where the last look ended. Thread: the Scheduler's.
class InvariantSample {
 public:
  static constexpr int kRuns = 8, kJobs = 8, kLives = 4, kQueues = 1;  ///< of each, in one look
  /// Of the runs that one entry names, the oldest: a run that is named by mistake never ends, so that it is
  /// among them sooner or later.
  static constexpr int kNamed = 4;

  /// Goes on behind the entries of the last look, around. What is broken; hardly ever anything.
  std::vector<Violation> look(const State& state);

 private:
  RunId run_;
  JobId job_;
  model::WorkerKey life_;
  SlotQueueKey queue_;
};

}  // namespace rota::master::core
