// Which worker gets the next attempt. Pure: workers that may take it in, one of them out.
#pragma once

#include <string>

#include "common/model/job.h"
#include "common/model/worker.h"
#include "master/core/tables/open_workers.h"

namespace rota::master::core {

/// Null when none may take it; else valid until `open` changes.
/// RoundRobin: the first id after `last_worker`, around. LeastLoaded: the smallest share of used slots,
/// among equals the one used longest ago. Named: the one with that id.
const model::WorkerKey* choose_worker(model::RouteKind route, const std::string& named,
                                      const std::string& last_worker, const OpenWorkers& open);

}  // namespace rota::master::core
