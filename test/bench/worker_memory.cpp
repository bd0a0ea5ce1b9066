// Memory of a worker, its proper and its wardens together: idle, with a hundred commands running, and
// the most that was seen while one job prints 10 GB.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "common/base/file.h"
#include "test/bench/figures.h"
#include "test/bench/process_times.h"
#include "test/bench/single_run.h"

namespace rota::bench {
namespace {

constexpr double kAimMib = 100;
constexpr int kRuns = 100;
constexpr Millis kMemoryLook{50};
constexpr std::chrono::seconds kSettle{3};

/// The larger of the cluster's workers, jobs not counted.
double worker_mib(const Surroundings& where) {
  const auto all = look_at_processes();
  std::map<std::string, double> sums;  // by the folder of the worker that the process was told
  for (const int pid : processes_of(where, all, false)) {
    const auto seen = all.find(pid);
    if (seen == all.end()) continue;
    const std::string& name = seen->second.name;
    if (name != "rota-worker" && name != "rota-warden") continue;
    const std::string line = read_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
    const std::size_t at = line.find("worker-");
    sums[at == std::string::npos ? "" : line.substr(at, 8)] += memory_bytes(pid) / (1024 * 1024);
  }
  double most = 0;
  for (const auto& [folder, sum] : sums) most = std::max(most, sum);
  return most;
}

Result<double> with_many_running(const Surroundings& where, client::Cluster& cluster) {
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 2 * kRuns; ++i) {  // on each of two workers half
    auto run = start_run(cluster, "bench-sleepers", {"/bin/sleep", "8"});
    if (!run) return fail(run.error());
    runs.push_back(*run);
  }
  std::this_thread::sleep_for(kSettle);
  const double seen = worker_mib(where);
  for (const std::int64_t run : runs) {
    if (auto ended = await_success(cluster, run); !ended) return fail(ended.error());
  }
  return seen;
}

Result<double> most_under_flood(const Surroundings& where, client::Cluster& cluster) {
  auto run = start_run(cluster, "bench-flood",
                       {"/bin/sh", "-c", "dd if=/dev/zero bs=64k count=163840 status=none"});
  if (!run) return fail(run.error());
  auto ended = std::async(std::launch::async, [&] { return await_success(cluster, *run); });
  double most = 0;
  while (ended.wait_for(kMemoryLook) != std::future_status::ready) most = std::max(most, worker_mib(where));
  auto seconds = ended.get();
  if (!seconds) return fail(seconds.error());
  return most;
}

}  // namespace

Result<bool> worker_memory(const Surroundings& where, const Effort&) {
  client::Cluster cluster(where.client());
  const double idle = worker_mib(where);
  if (idle == 0) return fail(ErrorCode::NotFound, "no worker's memory could be read");
  auto many = with_many_running(where, cluster);
  if (!many) return fail(many.error());
  auto flooded = most_under_flood(where, cluster);
  if (!flooded) return fail(flooded.error());
  Line("worker_memory")
      .add("idle_mib", idle, 1)
      .add("hundred_running_mib", *many, 1)
      .add("ten_gb_of_output_mib", *flooded, 1)
      .add("limit_mib", kAimMib)
      .add("ratio", std::max(*many, *flooded) / kAimMib, 2)
      .print_verdict(std::max(*many, *flooded) <= kAimMib, "each<=100MiB");
  return std::max(*many, *flooded) <= kAimMib;
}

}  // namespace rota::bench
