// Which workers may take a run: the name of the queue that it waits in.
#pragma once

#include <compare>
#include <string>

#include "master/core/kept_rules.h"

namespace rota::master::core {

struct SlotQueueKey {
  std::string pool;
  std::string worker;                  ///< empty: any of the pool
  std::string handler;                 ///< that the worker must know; empty: one that each knows
  auto operator<=>(const SlotQueueKey&) const = default;
};

class RunEntry;

/// The queue of runs of these rules that belong to no start of a worker.
SlotQueueKey slot_queue_of(const KeptRules& rules);

/// The queue that this run waits in.
SlotQueueKey slot_queue_of(const RunEntry& run);

}  // namespace rota::master::core
