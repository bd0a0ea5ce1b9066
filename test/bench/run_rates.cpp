// Runs a second, recorded to their end with full history, beside what the machine's parts can do.
#include <algorithm>

#include "test/bench/load.h"
#include "test/bench/raw_runs.h"

namespace rota::bench {
namespace {

constexpr double kNoopFloor = 0.3;
constexpr double kTrueFloor = 0.5;

struct Pair {
  std::vector<double> ours, peers, ratios, our_cpu, peer_cpu;
  void add(const Rate& our, const Rate& peer) {
    ours.push_back(our.per_second());
    peers.push_back(peer.per_second());
    ratios.push_back(our.per_second() / peer.per_second());
    our_cpu.push_back(our.cpu_us_each());
    peer_cpu.push_back(peer.cpu_us_each());
  }
};

Load load_of(std::string name, const Effort& effort) {
  Load load;
  load.seconds = effort.seconds;
  load.definition.__set_name(std::move(name));
  return load;
}

}  // namespace

Result<bool> noop_runs(const Surroundings& where, const Effort& effort) {
  Load load = load_of("bench-noop", effort);
  load.definition.work.__set_handler("noop");
  Pair pair;
  for (int i = 0; i < effort.repeats; ++i) {
    auto ours = run_load(where, load);
    if (!ours) return fail(ours.error());
    auto raw = raw_lives(where, effort.seconds);
    if (!raw) return fail(raw.error());
    pair.add(*ours, *raw);
  }
  const double ratio = median(pair.ratios);
  Line("noop_runs")
      .add("runs_per_s", median(pair.ours))
      .add("raw_two_writes_per_s", median(pair.peers))
      .add("ratio", ratio, 3)
      .add("cpu_us_per_run", median(pair.our_cpu))
      .add("raw_cpu_us", median(pair.peer_cpu))
      .print_verdict(ratio >= kNoopFloor, "0.3");
  return ratio >= kNoopFloor;
}

Result<bool> true_runs(const Surroundings& where, const Effort& effort) {
  Load load = load_of("bench-true", effort);
  load.definition.work.__set_argv({"/bin/true"});
  load.submitters = 1;
  load.batch = 100;
  Pair pair;
  for (int i = 0; i < effort.repeats; ++i) {
    auto ours = run_load(where, load);
    if (!ours) return fail(ours.error());
    auto plain = plain_processes(std::max<std::int64_t>(500, ours->count));
    if (!plain) return fail(plain.error());
    pair.add(*ours, *plain);
  }
  const double ratio = median(pair.ratios);
  Line("true_runs")
      .add("runs_per_s", median(pair.ours))
      .add("xargs_per_s", median(pair.peers))
      .add("ratio", ratio, 3)
      .add("cpu_us_per_run", median(pair.our_cpu))
      .add("xargs_cpu_us", median(pair.peer_cpu))
      .print_verdict(ratio >= kTrueFloor, "0.5");
  return ratio >= kTrueFloor;
}

}  // namespace rota::bench
