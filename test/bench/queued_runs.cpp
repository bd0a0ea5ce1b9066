// Runs that wait, since no worker of their pool is there: what they cost the leader's memory. Every master
// reads some time zones each second, so what its follower grows by meanwhile is not theirs.
#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/leader.h"
#include "test/bench/process_times.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr double kMostRunBytes = 335;  // 32 MiB for 100,000
constexpr std::size_t kQueueBatch = 500;
constexpr double kBytesPerMib = 1024 * 1024;
constexpr std::chrono::seconds kRunsSettle{2};

/// Submits them in batches; gives how many a second.
Result<double> submit_queued(const Surroundings& where, std::int64_t count) {
  client::Cluster cluster(where.client());
  thrift::SubmitItem item;
  item.__set_definition(noop_job("bench-queued"));
  item.definition.rules.__set_pool("bench-nobody");
  const MonoTime began = BootClock::now();
  for (std::int64_t done = 0; done < count; done += kQueueBatch) {
    auto results = cluster.submit_many(std::vector<thrift::SubmitItem>(kQueueBatch, item));
    if (!results) return fail(results.error());
    for (const thrift::SubmitResult& result : *results) {
      if (result.__isset.error) return fail(ErrorCode::Internal, result.error.message);
    }
  }
  return static_cast<double>(count) /
         std::chrono::duration<double>(BootClock::now() - began).count();
}

}  // namespace

Result<bool> queued_runs(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  auto leader = change_leader(where, **connection);
  if (!leader) return fail(leader.error());
  auto follower = find_follower(where, *leader);
  if (!follower) return fail(follower.error());
  const double empty = memory_bytes(leader->pid), empty_peak = peak_memory_bytes(leader->pid);
  const double idle = memory_bytes(*follower);
  auto rate = submit_queued(where, effort.count);
  if (!rate) return fail(rate.error());
  std::this_thread::sleep_for(kRunsSettle);
  const double beside = memory_bytes(*follower);
  const double full = memory_bytes(leader->pid) - empty - (beside - idle);
  auto next = change_leader(where, **connection);
  if (!next) return fail(next.error());
  const double loaded = memory_bytes(next->pid) - beside;
  const auto count = static_cast<double>(effort.count);
  const bool passed = std::max(full, loaded) / count <= kMostRunBytes;
  Line("queued_runs")
      .add("runs", count)
      .add("batch", static_cast<double>(kQueueBatch))
      .add("submitted_per_s", *rate)
      .add("leader_empty_mib", empty / kBytesPerMib, 1)
      .add("queued_mib", full / kBytesPerMib, 1)
      .add("follower_grew_mib", (beside - idle) / kBytesPerMib, 1)
      .add("bytes_per_run", full / count)
      .add("loaded_bytes_per_run", loaded / count)
      .add("loaded_peak_bytes_per_run", (peak_memory_bytes(next->pid) - empty_peak) / count)
      .print_verdict(passed, "335B");
  return passed;
}

}  // namespace rota::bench
