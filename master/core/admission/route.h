// Which worker gets the next attempt. Pure: candidates in, one of them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/worker.h"

namespace rota::master::core {

/// A worker that may take an attempt now: reconciled, not draining, with a free slot.
struct Candidate {
  const model::WorkerKey* key = nullptr;
  std::int32_t used = 0;
  std::int32_t slots = 1;
  std::int64_t last_used = 0;          ///< ordinal of its last dispatch; 0: never
};

/// The index of the chosen one; empty when there are none. `candidates` are in the order of their ids.
/// RoundRobin: the first id after `last_worker`, around. LeastLoaded: the smallest share of used slots,
/// among equals the one used longest ago. Named: the one with that id.
std::optional<std::size_t> choose_worker(model::RouteKind route, const std::string& named,
                                         const std::string& last_worker,
                                         const std::vector<Candidate>& candidates);

}  // namespace rota::master::core
