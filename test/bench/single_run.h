// One run, from its submit to its end.
#pragma once

#include <string>
#include <vector>

#include "test/bench/surroundings.h"

namespace rota::bench {

/// Submits the command and returns the run's id.
Result<std::int64_t> start_run(client::Cluster& cluster, const std::string& name,
                               std::vector<std::string> argv);

/// How long the run's command lived, by its worker's clock, in seconds. Waits up to 10 min for its
/// end. Internal: it did not succeed.
Result<double> await_success(client::Cluster& cluster, std::int64_t run);

}  // namespace rota::bench
