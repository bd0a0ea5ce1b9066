// sim --seeds N --from S [--jobs N] | --shrink SEED | --seeds 1 --from SEED --verbose
//
// Runs N simulated worlds, seeds S to S + N - 1, each a cluster of production's core, loop, recovery,
// takeover and attempt table under faults; the seeds of test/sim/seeds.txt come first. Prints the marks and a
// last line; exits 1 at the first broken promise and prints the command that replays it.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "campaign.h"
#include "common/base/log.h"

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMostSeeds = 40;  // each takes some thirty times as long, and has only one thread
#else
constexpr std::uint64_t kMostSeeds = UINT64_MAX;
#endif

struct Arguments {
  rota::sim::CampaignPlan plan;
  std::uint64_t shrink = 0;
  std::string seeds_file;
  bool verbose = false;
  bool ok = true;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = i + 1 < argc;
    if (name == "--verbose") {
      read.verbose = true;
    } else if (name == "--seeds" && has_value) {
      read.plan.seeds = std::stoull(argv[++i]);
    } else if (name == "--from" && has_value) {
      read.plan.from = std::stoull(argv[++i]);
    } else if (name == "--jobs" && has_value) {
      read.plan.jobs = std::max(1, std::stoi(argv[++i]));
    } else if (name == "--shrink" && has_value) {
      read.shrink = std::stoull(argv[++i]);
    } else if (name == "--first" && has_value) {
      read.seeds_file = argv[++i];
    } else {
      read.ok = false;
    }
  }
  return read;
}

/// Reads lines "seed  why"; lines that begin with # are for people.
std::vector<std::uint64_t> read_seeds(const std::string& path) {
  std::vector<std::uint64_t> seeds;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::uint64_t seed = 0;
    if (!line.empty() && line[0] != '#' && words >> seed) seeds.push_back(seed);
  }
  return seeds;
}

int live_one(std::uint64_t seed) {
  rota::sim::Recipe recipe;
  recipe.seed = seed;
  recipe.verbose = true;
  const std::string broken = rota::sim::live_apart(recipe);
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), broken.empty() ? "kept" : broken.c_str());
  return broken.empty() ? 0 : 1;
}

int tell(const rota::sim::CampaignResult& result, double seconds, bool is_small) {
  if (!result.broken.empty()) {
    const auto seed = static_cast<unsigned long long>(result.failed_seed);
    std::printf("seed %llu:%s\nreplay: scripts/sim --seeds 1 --from %llu --verbose\n"
                "smaller: scripts/sim --shrink %llu\n", seed, result.broken.c_str(), seed, seed);
    return 1;
  }
  int hit = 0, all = 0;
  for (const auto& [name, count] : result.marks.counts()) {
    ++all;
    hit += count > 0 ? 1 : 0;
    std::printf("%-40s %12lld%s\n", name.c_str(), static_cast<long long>(count),
                count > 0 ? "" : "   NEVER MET");
  }
  const auto worlds = static_cast<double>(result.lived);
  std::printf("sim worlds_per_second=%.0f seconds=%.1f\n", worlds / std::max(seconds, 0.001), seconds);
  std::printf("sim seeds=%llu events=%lld hours=%.1f marks=%d/%d violations=0\n",
              static_cast<unsigned long long>(result.lived), static_cast<long long>(result.events),
              static_cast<double>(result.lived_ms) / 3.6e6, hit, all);
  return hit == all || is_small ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = read_arguments(argc, argv);
  if (!arguments.ok) {
    std::fprintf(stderr, "usage: sim [--seeds N] [--from S] [--jobs N] [--first FILE] [--verbose] | --shrink SEED\n");
    return 2;
  }
  rota::LogOptions silence;
  silence.console = false;
  rota::log_start(silence);
  if (arguments.shrink != 0) return rota::sim::shrink(arguments.shrink);
  if (arguments.verbose) return live_one(arguments.plan.from);
  if (arguments.plan.seeds > kMostSeeds) {
    arguments.plan.seeds = kMostSeeds;
    std::printf("under the thread sanitizer only %llu seeds\n", static_cast<unsigned long long>(kMostSeeds));
  }
  if (!arguments.seeds_file.empty()) arguments.plan.first = read_seeds(arguments.seeds_file);
  const auto begun = std::chrono::steady_clock::now();
  const auto result = rota::sim::run_campaign(arguments.plan);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  return tell(result, took.count(), arguments.plan.seeds < 400);
}
