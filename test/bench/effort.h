// How much of everything a benchmark does: read from the command line, over the benchmark's own defaults.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace rota::bench {

/// How long, how often, and how many. A benchmark uses what it needs of it.
struct Effort {
  double seconds = 3;                  ///< of each load
  int pairs = 11;                      ///< measurements that alternate with their peer
  int samples = 200;                   ///< of a latency, or kills
  std::int64_t count = 0;              ///< of what the benchmark is about: jobs, runs, workers
  std::int64_t history = 0;            ///< old runs in the tables
};

/// The defaults with what `options` say of them ("--seconds", "3", ...). InvalidArgument: an unknown option,
/// or a value that is no number of at least 1 (--seconds: 0.1, --history: 0).
Result<Effort> read_effort(Effort defaults, const std::vector<std::string_view>& options);

}  // namespace rota::bench
