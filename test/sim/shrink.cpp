// Shrinks a failing world and shows it.
#include <cstdio>

#include "campaign.h"
#include "shrink_rules.h"

namespace rota::sim {
namespace {

Trial try_out(const Recipe& recipe) {
  Trial trial;
  trial.broken = live_apart(recipe, &trial.kinds, &trial.strikes);
  return trial;
}

}  // namespace

int shrink(std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe = shrunk(recipe, try_out);
  recipe.verbose = true;
  const Trial smallest = try_out(recipe);
  if (smallest.broken.empty()) {
    std::printf("seed %llu keeps every promise\n", static_cast<unsigned long long>(seed));
    return 0;
  }
  std::printf("seed %llu: %s\nneeded:", static_cast<unsigned long long>(seed), smallest.broken.c_str());
  for (const std::string& kind : smallest.kinds) std::printf(" %s", kind.c_str());
  std::printf("\nstrikes:");
  for (const auto& [kind, ordinal] : smallest.strikes) std::printf(" %s#%d", kind.c_str(), ordinal);
  std::printf("\n");
  return 1;
}

}  // namespace rota::sim
