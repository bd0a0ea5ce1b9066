// rota-bench NAME [--seconds N] [--repeats N] [--samples N]: one benchmark against the cluster that the
// environment names. exit: 0 measured (whatever the verdict), 1 could not measure, 2 wrong arguments.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "common/rpc/process_setup.h"
#include "test/bench/surroundings.h"

namespace {

using Benchmark = rota::Result<bool> (*)(const rota::bench::Surroundings&,
                                         const rota::bench::Effort&);

const std::map<std::string_view, Benchmark> kBenchmarks{
    {"submit_latency", rota::bench::submit_latency}, {"noop_runs", rota::bench::noop_runs},
    {"true_runs", rota::bench::true_runs},           {"tick_lateness", rota::bench::tick_lateness},
    {"output_rate", rota::bench::output_rate},       {"worker_memory", rota::bench::worker_memory},
    {"idle_cpu", rota::bench::idle_cpu},
};

bool read_effort(int argc, char** argv, rota::bench::Effort& effort) {
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (value <= 0) return false;
    if (key == "--seconds") effort.seconds = value;
    else if (key == "--repeats") effort.repeats = static_cast<int>(value);
    else if (key == "--samples") effort.samples = static_cast<int>(value);
    else return false;
  }
  return argc % 2 == 0;
}

}  // namespace

int main(int argc, char** argv) {
  rota::bench::Effort effort;
  const auto found = argc > 1 ? kBenchmarks.find(argv[1]) : kBenchmarks.end();
  if (found == kBenchmarks.end() || !read_effort(argc, argv, effort)) {
    fmt::print(stderr, "usage: rota-bench NAME [--seconds N] [--repeats N] [--samples N]\n");
    return 2;
  }
  rota::rpc::ignore_sigpipe();
  const auto where = rota::bench::read_surroundings(argv[0]);
  const auto measured = where ? found->second(*where, effort)
                              : rota::Result<bool>(tl::unexpected(where.error()));
  if (measured) return 0;
  fmt::print(stderr, "{}: {}\n", argv[1], measured.error().message);
  return 1;
}
