// Many saved jobs at once.
#pragma once

#include <JobService.h>

#include <functional>
#include <vector>

#include "test/bench/surroundings.h"

namespace rota::bench {

/// A saved no-op job.
thrift::JobDefinition noop_job(std::string name);

/// One that ticks every `every` from `start_ms` on; its runs may overlap.
thrift::JobDefinition ticking_job(std::string name, std::int64_t start_ms, Millis every);

/// Applies so many in calls of 1,000; gives their ids. Internal: one was refused.
Result<std::vector<std::int64_t>> apply_each(
    const Surroundings& where, std::int64_t count,
    const std::function<thrift::JobDefinition(std::int64_t)>& job);

}  // namespace rota::bench
