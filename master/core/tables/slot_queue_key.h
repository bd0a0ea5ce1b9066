// Which workers may take a run: the name of the queue that it waits in.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/model/demand.h"
#include "master/core/kept_rules.h"

namespace rota::master::core {

/// Who counts when a route has one worker in mind, for which its runs wait. Any: it has none, each that may
/// take a run will do. First, Last: all that are here and not drained. Failover: those of them that accept
/// attempts now.
enum class Gate { Any, First, Last, Failover };
Gate gate_of(model::RouteKind route);
/// It passes over workers with half of their share every second time. The others give them half in another
/// way (weights, lots, keys), or go by rank or name, whatever a worker's share.
bool passes_over(model::RouteKind route);

/// Namespace and name.
using SemaphoreName = std::pair<std::string, std::string>;
/// How many tokens of each; of a run all or none.
using TokenNeeds = std::map<SemaphoreName, std::int32_t>;

struct SlotQueueKey {
  std::string pool;
  std::string worker;                  ///< empty: any of the pool
  std::string handler;                 ///< that the worker must know; empty: one that each knows
  Gate gate = Gate::Any;
  std::map<std::string, std::string> select = {};  ///< labels that the worker must have (worker_labels.h)
  std::string except = {};             ///< a worker that it must not go to; empty: none
  TokenNeeds uses = {};                      ///< tokens that a run takes when it is sent (token_table.h)
  model::Demand demand = {};                 ///< what each run takes of its worker
  auto operator<=>(const SlotQueueKey&) const = default;
};

class RunEntry;

/// The queue of runs of these rules that belong to no start of a worker. Without `uses`: which workers may
/// take them does not depend on tokens.
SlotQueueKey slot_queue_of(const KeptRules& rules);

/// The tokens that a run takes when it is sent.
TokenNeeds needs_of(const RunEntry& run);

/// The queue that this run waits in.
SlotQueueKey slot_queue_of(const RunEntry& run);

}  // namespace rota::master::core
