// Which worker gets the next attempt. Pure: workers that may take it in, one of them out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/tables/open_workers.h"

namespace rota::master::core {

/// What a choice goes by, beside the workers.
struct RouteQuestion {
  model::RouteKind route = model::RouteKind::LeastLoaded;
  std::string named;                   ///< Named: the worker
  std::string last_worker;             ///< RoundRobin: of the job's last attempt; empty: not known
  std::uint64_t lot = 0;               ///< of run and attempt: the draw of Random
  std::uint64_t key = 0;               ///< ConsistentHash: hash of its key
};

/// Null when none may take it; else valid until `open` changes.
/// RoundRobin: the first id after `last_worker`, around; by lot when that is not known. LeastLoaded: the
/// lowest load, among equals the one used longest ago. First, Failover and Busyover: the lowest rank, then
/// the lowest id; Last: the highest. Who counts among the workers differs between these (Gate).
/// FastestResponse: one draw in 16 is for the worker that was used longest ago, so that one that was slow is
/// measured again.
/// `passed`: workers with half of their share that were passed over this time.
const model::WorkerKey* choose_worker(const RouteQuestion& question, const OpenWorkers& open,
                                      std::vector<model::WorkerKey>& passed);
inline const model::WorkerKey* choose_worker(const RouteQuestion& question, const OpenWorkers& open) {
  std::vector<model::WorkerKey> passed;
  return choose_worker(question, open, passed);
}

/// The same in every Term.
std::uint64_t lot_of(const model::AttemptKey& attempt);

/// What ConsistentHash goes by: the job's `route_key` with the run's parameters in it, else the job itself.
std::string route_key_of(const model::JobRules& rules, const model::Parameters* parameters, JobId job);

}  // namespace rota::master::core
