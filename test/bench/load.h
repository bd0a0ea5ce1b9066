// A load of runs, from their submit to the record of their end in the store.
#pragma once

#include <JobService.h>

#include <cstdint>

#include "test/bench/figures.h"
#include "test/bench/surroundings.h"

namespace rota::bench {

struct Load {
  thrift::JobDefinition definition;
  double seconds = 3;                  ///< of submitting
  int submitters = 2;
  std::size_t batch = 500;             ///< runs in one submit_many; 1: one submit a call
  std::size_t calls_each = SIZE_MAX;   ///< of a submitter, at most
};

/// Submits for `seconds`, waits until all of it is recorded as ended, and counts what succeeded.
/// Internal: some run did not succeed.
Result<Rate> run_load(const Surroundings& where, const Load& load);

}  // namespace rota::bench
