// From Thrift's generated interfaces to the master's own services: every method passes the
// connection's Edge, which makes the Caller and asks for its right.
#pragma once

#include <memory>

#include "JobService.h"
#include "ReportService.h"
#include "common/rpc/edge.h"
#include "master/api/services.h"

namespace rota::master::api {

/// Of one connection.
std::shared_ptr<thrift::JobServiceIf> adapt(std::shared_ptr<JobService> jobs, rpc::Edge edge);
std::shared_ptr<thrift::ReportServiceIf> adapt(std::shared_ptr<ReportService> reports,
                                               rpc::Edge edge);

}  // namespace rota::master::api
