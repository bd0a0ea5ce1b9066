// Runs a second, recorded to their end with full history, beside what the machine's parts can do.
#include <algorithm>
#include <map>

#include "test/bench/load.h"
#include "test/bench/raw_runs.h"

namespace rota::bench {
namespace {

constexpr double kNoopFloor = 0.3;
constexpr double kTrueFloor = 0.5;

struct Pair {
  std::vector<double> ours, peers, ratios, our_cpu, peer_cpu;
  std::map<std::string, std::vector<double>> cpu_of;  // ours, by program
  void add(const Rate& our, const Rate& peer) {
    ours.push_back(our.per_second());
    peers.push_back(peer.per_second());
    ratios.push_back(our.per_second() / peer.per_second());
    our_cpu.push_back(our.cpu_us_each());
    peer_cpu.push_back(peer.cpu_us_each());
    for (const auto& [program, seconds] : our.cpu_of) cpu_of[program].push_back(our.cpu_us_each(program));
  }
  /// The rate, the peer's, their ratio, and CPU of all processes per run, the database included.
  Line line(std::string_view name, const Load& load, std::string_view peer) const {
    Line line(name);
    line.add("pairs", static_cast<double>(ratios.size())).add("batch", static_cast<double>(load.batch));
    line.add("submitters", load.submitters).add("runs_per_s", median(ours)).add(peer, median(peers));
    line.add_spread("ratio", ratios, 3).add_spread("cpu_us_per_run", our_cpu);
    for (const auto& [program, each] : cpu_of) line.add(program + "_cpu_us", median(each));
    return line;
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
  for (int i = 0; i < effort.pairs; ++i) {
    auto ours = run_load(where, load);
    if (!ours) return fail(ours.error());
    auto raw = raw_lives(where, effort.seconds);
    if (!raw) return fail(raw.error());
    pair.add(*ours, *raw);
  }
  const double ratio = lower_quartile(pair.ratios);
  pair.line("noop_runs", load, "raw_two_writes_per_s")
      .add("raw_batch", 500)
      .add("raw_cpu_us", median(pair.peer_cpu))
      .print_verdict(ratio >= kNoopFloor, "0.3");
  return ratio >= kNoopFloor;
}

Result<bool> single_submits(const Surroundings& where, const Effort& effort) {
  Load load = load_of("bench-single", effort);
  load.definition.work.__set_handler("noop");
  load.submitters = 8;
  load.batch = 1;
  Pair pair;
  std::vector<double> call_ms;
  for (int i = 0; i < effort.pairs; ++i) {
    auto ours = run_load(where, load);
    if (!ours) return fail(ours.error());
    auto commits = raw_commits(where, load.submitters, effort.seconds);
    if (!commits) return fail(commits.error());
    pair.add(*ours, *commits);
    call_ms.insert(call_ms.end(), ours->call_ms.begin(), ours->call_ms.end());
  }
  pair.line("single_submits", load, "commits_of_one_row_per_s")
      .add("call_p50_ms", median(call_ms), 2)
      .add_tail("call_ms", call_ms, 2)
      .print();
  return true;
}

Result<bool> true_runs(const Surroundings& where, const Effort& effort) {
  Load load = load_of("bench-true", effort);
  load.definition = where.command("bench-true", {"/bin/true"});
  load.submitters = 1;
  load.batch = 100;
  Pair pair;
  for (int i = 0; i < effort.pairs; ++i) {
    auto ours = run_load(where, load);
    if (!ours) return fail(ours.error());
    auto plain = plain_processes(std::max<std::int64_t>(500, ours->count));
    if (!plain) return fail(plain.error());
    pair.add(*ours, *plain);
  }
  const double ratio = lower_quartile(pair.ratios);
  pair.line("true_runs", load, "xargs_per_s")
      .add("user", where.job_user_shown())
      .add("xargs_cpu_us", median(pair.peer_cpu))
      .print_verdict(ratio >= kTrueFloor, "0.5");
  return ratio >= kTrueFloor;
}

}  // namespace rota::bench
