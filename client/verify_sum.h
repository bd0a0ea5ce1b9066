// One verification in several answers: what they come to. Pure.
#pragma once

#include <string>

#include "job_types.h"

namespace rota::client {

/// Adds an answer to those before it. The first is added to an empty report.
void add_part(thrift::VerifyReport& sum, const thrift::VerifyReport& part);

/// "ticks of 1,200 of 200,000 jobs, and 0 runs"
std::string how_far(const thrift::VerifyReport& sum);

}  // namespace rota::client
