// The jobs of a simulated world: schedules that are due every few seconds, and all rules beside them. Routes,
// limits and retries are drawn by Clients with dice of their own.
#pragma once

#include <cstddef>

#include "common/model/job.h"
#include "random.h"

namespace rota::sim {

/// Another one each time; `number` names it.
model::JobDefinition random_job(Random& random, std::size_t number);

}  // namespace rota::sim
