// rota-bench NAME [--short] [--seconds N] [--pairs N] [--samples N] [--count N] [--history N]: one benchmark
// against the cluster that the environment names. exit: 0 measured (whatever the verdict), 1 could not
// measure, 2 wrong arguments.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "common/rpc/process_setup.h"
#include "test/bench/surroundings.h"

namespace {

using namespace rota::bench;

struct Benchmark {
  rota::Result<bool> (*run)(const Surroundings&, const Effort&) = nullptr;
  Effort full{};
  Effort brief{.seconds = 2, .pairs = 3, .samples = 50};
};

const std::map<std::string_view, Benchmark> kBenchmarks{
    {"submit_latency", {submit_latency}},
    {"noop_runs", {noop_runs}},
    {"single_submits", {single_submits}},
    {"true_runs", {true_runs}},
    {"tick_lateness", {tick_lateness}},
    {"output_rate", {output_rate, {.pairs = 3}, {.pairs = 1}}},
    {"worker_memory", {worker_memory}},
    {"idle_cpu", {idle_cpu}},
    {"steady_load",
     {steady_load, {.seconds = 60, .history = 10'000'000},
      {.seconds = 9, .history = 200'000}}},
    {"retention_load", {retention_load, {.seconds = 20}, {.seconds = 4, .pairs = 2}}},
    {"saved_jobs", {saved_jobs, {.samples = 5, .count = 1'000'000}, {.samples = 1, .count = 20'000}}},
    {"mixed_jobs", {mixed_jobs, {.samples = 5, .count = 1'000'000}, {.samples = 1, .count = 20'000}}},
    {"due_at_once", {due_at_once, {.count = 1'000'000}, {.count = 10'000}}},
    {"queued_runs", {queued_runs, {.count = 100'000}, {.count = 20'000}}},
    {"many_workers",
     {many_workers, {.seconds = 5, .count = 1000}, {.seconds = 2, .pairs = 2, .count = 200}}},
    {"returning_workers", {returning_workers, {.count = 1000}, {.count = 200}}},
    {"behind_queue",
     {behind_queue, {.samples = 50, .count = 100'000}, {.samples = 10, .count = 20'000}}},
    {"failover", {failover, {.samples = 100, .count = 20'000}, {.samples = 4, .count = 5000}}},
};

rota::Result<Effort> unknown_benchmark() {
  return rota::fail(rota::ErrorCode::InvalidArgument, "no such benchmark");
}

/// Takes --short out, which may stand anywhere; it says which defaults the others change.
bool has_short(std::vector<std::string_view>& options) {
  return std::erase(options, std::string_view("--short")) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> options(argv + (argc > 1 ? 2 : 1), argv + argc);
  const auto found = argc > 1 ? kBenchmarks.find(argv[1]) : kBenchmarks.end();
  const bool is_short = has_short(options);
  const auto effort = found == kBenchmarks.end()
                          ? unknown_benchmark()
                          : read_effort(is_short ? found->second.brief : found->second.full, options);
  if (!effort) {
    fmt::print(stderr, "{}\nusage: rota-bench NAME [--short] [--seconds N] [--pairs N] [--samples N] "
               "[--count N] [--history N]\n", effort.error().message);
    return 2;
  }
  rota::rpc::ignore_sigpipe();
  const auto where = read_surroundings(argv[0]);
  const auto measured = where ? found->second.run(*where, *effort)
                              : rota::Result<bool>(tl::unexpected(where.error()));
  if (measured) return 0;
  fmt::print(stderr, "{}: {}\n", argv[1], measured.error().message);
  return 1;
}
