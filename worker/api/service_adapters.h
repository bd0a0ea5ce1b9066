// From Thrift's generated interface to the worker's own service: every method passes the
// connection's Edge, which makes the Caller and asks for its right.
#pragma once

#include <memory>

#include "common/rpc/server.h"
#include "worker/api/services.h"

namespace rota::worker::api {

/// What the worker's server runs for each connection.
rpc::ProcessorOf make_processors(std::shared_ptr<WorkerService> service);

}  // namespace rota::worker::api
