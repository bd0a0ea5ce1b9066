// Both services of a master on one port: their methods have different names, so plain clients of
// either work, in any language.
#pragma once

#include <thrift/TProcessor.h>

#include <memory>

#include "JobService.h"
#include "ReportService.h"

namespace rota::master::api {

std::shared_ptr<apache::thrift::TProcessor> make_processor(
    std::shared_ptr<thrift::JobServiceIf> jobs, std::shared_ptr<thrift::ReportServiceIf> reports);

}  // namespace rota::master::api
