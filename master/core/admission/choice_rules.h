// Which worker a run goes to, of those that may take it now.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// The one that is kept for it, or the one that its route chooses. Its queue may be served.
model::WorkerKey choose_worker_for(WorkerTable& workers, const RunEntry& run, const SlotQueueKey& key);

}  // namespace rota::master::core
