// Bytes of output a second that one job gets rid of, beside the same bytes through `cat` into a file.
// The worker reads, spools, sends and stores them, up to its cap; of the rest it keeps the count.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/random.h"
#include "test/bench/figures.h"
#include "test/bench/single_run.h"

namespace rota::bench {
namespace {

constexpr double kAimMbPerSecond = 100;
constexpr int kMib = 1024;

std::string megabytes_command() { return fmt::format("dd if=/dev/zero bs=64k count={} status=none", kMib * 16); }

/// Seconds of the same into a file, by `cat`.
Result<double> plain_seconds() {
  const std::string file = "/tmp/rota-bench-" + random_hex(8);
  const MonoTime began = BootClock::now();
  const int status = std::system(fmt::format("{} | cat > {}", megabytes_command(), file).c_str());
  const double seconds = std::chrono::duration<double>(BootClock::now() - began).count();
  ::unlink(file.c_str());
  if (status != 0) return fail(ErrorCode::Internal, "cat failed");
  return seconds;
}

}  // namespace

Result<bool> output_rate(const Surroundings& where, const Effort& effort) {
  client::Cluster cluster(where.client());
  std::vector<double> ours, peers;
  for (int i = 0; i < effort.pairs; ++i) {
    auto run = start_run(cluster, "bench-output", {"/bin/sh", "-c", megabytes_command()});
    if (!run) return fail(run.error());
    auto seconds = await_success(cluster, *run);
    if (!seconds) return fail(seconds.error());
    ours.push_back(kMib / std::max(*seconds, 0.001));
    auto plain = plain_seconds();
    if (!plain) return fail(plain.error());
    peers.push_back(kMib / std::max(*plain, 0.001));
  }
  const double rate = median(ours);
  Line("output_rate")
      .add("mib_each", kMib)
      .add("mib_per_s", rate)
      .add("cat_mib_per_s", median(peers))
      .add("ratio", rate / median(peers), 2)
      .print_verdict(rate >= kAimMbPerSecond, "100MiB/s");
  return rate >= kAimMbPerSecond;
}

}  // namespace rota::bench
