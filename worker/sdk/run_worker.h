// A worker with handlers of one's own: fill a Registry, and hand main's arguments over.
#pragma once

#include "worker/sdk/registry.h"

namespace rota::sdk {

/// The whole program: options as rota-worker's (`--config F` ...), exit status to return from main.
/// The built-in handlers are added to the registry. Implemented in the library rota_worker.
int run_worker(int argc, char** argv, Registry& registry);

}  // namespace rota::sdk
