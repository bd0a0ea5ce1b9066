// sim --seeds N --from S [--verbose]: lives through N simulated worlds, seeds S to S + N - 1, each a
// cluster of production's core, loop, recovery and attempt table under faults. Prints what was met and
// a last line; exits 1 at the first broken promise, naming the command that replays it.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "world.h"

namespace {

std::uint64_t g_seed = 0;  // of the present world, for a failed check

void tell_replay(int) {
  std::fprintf(stderr, "replay: sim --seeds 1 --from %llu --verbose\n",
               static_cast<unsigned long long>(g_seed));
}

struct Arguments {
  std::uint64_t seeds = 500;
  std::uint64_t from = 1;
  bool verbose = false;
  bool ok = true;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--seeds") == 0 && has_value) {
      read.seeds = std::stoull(argv[++i]);
    } else if (std::strcmp(argv[i], "--from") == 0 && has_value) {
      read.from = std::stoull(argv[++i]);
    } else if (std::strcmp(argv[i], "--verbose") == 0) {
      read.verbose = true;
    } else {
      read.ok = false;
    }
  }
  return read;
}

struct Campaign {
  rota::sim::Marks marks;
  std::int64_t events = 0;
  rota::Millis lived{0};

  /// False when a promise was broken.
  bool live(std::uint64_t seed, bool verbose, std::uint64_t* hash) {
    g_seed = seed;
    rota::sim::Marks met;
    rota::sim::World world(seed, met, verbose);
    const std::string broken = world.run();
    marks.add(met);
    events += world.clockwork.deeds();
    lived += world.lived();
    *hash = world.trace_hash();
    if (broken.empty()) return true;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), broken.c_str());
    std::fflush(stdout);
    tell_replay(0);
    return false;
  }
};

/// Lives a seed twice: the same dice must give the same world.
bool is_deterministic(std::uint64_t seed) {
  Campaign twice;
  std::uint64_t first = 0, second = 0;
  if (!twice.live(seed, false, &first) || !twice.live(seed, false, &second)) return false;
  if (first == second) return true;
  std::printf("seed %llu gives two different worlds\n", static_cast<unsigned long long>(seed));
  return false;
}

int print_marks(const Campaign& campaign, std::uint64_t seeds) {
  int hit = 0, all = 0;
  for (const auto& [name, count] : campaign.marks.counts()) {
    ++all;
    hit += count > 0 ? 1 : 0;
    std::printf("%-40s %12lld%s\n", name.c_str(), static_cast<long long>(count),
                count > 0 ? "" : "   NEVER MET");
  }
  std::printf("sim seeds=%llu events=%lld hours=%.1f marks=%d/%d violations=0\n",
              static_cast<unsigned long long>(seeds), static_cast<long long>(campaign.events),
              static_cast<double>(campaign.lived.count()) / 3.6e6, hit, all);
  return hit == all || seeds < 200 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  if (!arguments.ok) {
    std::fprintf(stderr, "usage: sim [--seeds N] [--from S] [--verbose]\n");
    return 2;
  }
  std::signal(SIGABRT, tell_replay);
  Campaign campaign;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) {
    std::uint64_t hash = 0;
    if (!campaign.live(arguments.from + i, arguments.verbose, &hash)) return 1;
  }
  if (!arguments.verbose && !is_deterministic(arguments.from)) return 1;
  return print_marks(campaign, arguments.seeds);
}
