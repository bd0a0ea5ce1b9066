#include "shrink_rules.h"

namespace rota::sim {

std::string promise_of(const std::string& broken) {
  const std::size_t from = broken.find_first_not_of(' ');
  return from == std::string::npos ? "" : broken.substr(from, broken.find(':') - from);
}

Recipe shrunk(Recipe recipe, const LiveOnce& live) {
  const Trial first = live(recipe);
  if (first.broken.empty()) return recipe;
  const std::string promise = promise_of(first.broken);
  const auto still_broken = [&](const Recipe& smaller) { return promise_of(live(smaller).broken) == promise; };
  for (const std::string& kind : first.kinds) {
    Recipe smaller = recipe;
    smaller.without.insert(kind);
    if (still_broken(smaller)) recipe = std::move(smaller);
  }
  for (const auto& strike : live(recipe).strikes) {
    Recipe smaller = recipe;
    smaller.skipped.insert(strike);
    if (still_broken(smaller)) recipe = std::move(smaller);
  }
  return recipe;
}

}  // namespace rota::sim
