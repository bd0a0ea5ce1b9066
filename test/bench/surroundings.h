// Where the cluster under test is, as `scripts/cluster env` tells it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cluster.h"
#include "common/base/result.h"
#include "master/store/mysql/connection.h"

namespace rota::bench {

struct Surroundings {
  std::vector<std::string> masters;
  master::store::MysqlOptions database;
  std::string cluster_folder;          ///< with the pid files
  std::string program_folder;          ///< where rota-bench-clock lies

  client::ClusterOptions client() const;
};

/// How long, and how often.
struct Effort {
  double seconds = 3;                  ///< of each repeat
  int repeats = 3;
  int samples = 200;                   ///< of a latency
};

/// InvalidArgument: a ROTA_ variable is missing.
Result<Surroundings> read_surroundings(const char* program);

/// The benchmarks: each prints its line. False: the floor was missed.
Result<bool> submit_latency(const Surroundings& where, const Effort& effort);
Result<bool> noop_runs(const Surroundings& where, const Effort& effort);
Result<bool> true_runs(const Surroundings& where, const Effort& effort);
Result<bool> tick_lateness(const Surroundings& where, const Effort& effort);
Result<bool> output_rate(const Surroundings& where, const Effort& effort);
Result<bool> worker_memory(const Surroundings& where, const Effort& effort);
Result<bool> idle_cpu(const Surroundings& where, const Effort& effort);

}  // namespace rota::bench
