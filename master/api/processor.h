// Both services of a master on one port: their methods have different names, so plain clients of
// either work, in any language.
#pragma once

#include <memory>

#include "common/rpc/server.h"
#include "master/api/services.h"

namespace rota::master::api {

/// What the master's server runs for each connection.
rpc::ProcessorOf make_processors(std::shared_ptr<JobService> jobs,
                                 std::shared_ptr<ReportService> reports);

}  // namespace rota::master::api
