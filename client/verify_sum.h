// Adds up the several answers of one verification. Pure.
#pragma once

#include <string>

#include "job_types.h"

namespace rota::client {

/// Adds an answer to the earlier ones. The first is added to an empty report.
void add_part(thrift::VerifyReport& sum, const thrift::VerifyReport& part);

/// "ticks of 1,200 of 200,000 jobs, and 0 runs"
std::string how_far(const thrift::VerifyReport& sum);

}  // namespace rota::client
