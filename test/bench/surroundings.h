// Where the cluster under test is, as `scripts/cluster env` tells it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cluster.h"
#include "common/base/result.h"
#include "master/store/mysql/connection.h"
#include "test/bench/effort.h"

namespace rota::bench {

struct Surroundings {
  std::vector<std::string> masters;
  master::store::MysqlOptions database;
  std::string cluster_folder;          ///< with the pid files
  std::string zookeeper;
  std::string program_folder;          ///< where rota-bench-clock and rota-stand-ins lie
  std::string job_user;                ///< as whom commands run (`run_as`); empty: as the worker
  std::string job_program_folder;      ///< where that user finds rota-bench-clock

  client::ClusterOptions client() const;
  /// A command as this cluster's jobs are to run it.
  thrift::JobDefinition command(std::string name, std::vector<std::string> argv) const;
  /// As whom its jobs run, for the figures.
  std::string job_user_shown() const;
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
Result<bool> single_submits(const Surroundings& where, const Effort& effort);
Result<bool> steady_load(const Surroundings& where, const Effort& effort);
Result<bool> retention_load(const Surroundings& where, const Effort& effort);
Result<bool> saved_jobs(const Surroundings& where, const Effort& effort);
Result<bool> mixed_jobs(const Surroundings& where, const Effort& effort);
Result<bool> due_at_once(const Surroundings& where, const Effort& effort);
Result<bool> queued_runs(const Surroundings& where, const Effort& effort);
Result<bool> many_workers(const Surroundings& where, const Effort& effort);
Result<bool> returning_workers(const Surroundings& where, const Effort& effort);
Result<bool> behind_queue(const Surroundings& where, const Effort& effort);
Result<bool> failover(const Surroundings& where, const Effort& effort);

}  // namespace rota::bench
