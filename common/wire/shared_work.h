// How master and worker name what an attempt runs by its content, so that it is sent once. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "job_types.h"

namespace rota::wire {

/// About how much room it takes on the wire and in memory; both sides count by it.
std::size_t weight_of(const thrift::Work& work);

/// SHA-256 of all that is sent: whoever fills in other defaults, or knows other fields, has another hash.
std::string hash_of(const thrift::Work& work);

}  // namespace rota::wire
