// Shrinks a failing world. Pure: the caller runs the recipes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recipe.h"

namespace rota::sim {

/// How the world of a recipe ended.
struct Trial {
  std::string broken;                                ///< empty: every promise was kept
  std::vector<std::string> kinds;                    ///< kinds of faults that were on
  std::vector<std::pair<std::string, int>> strikes;  ///< strikes that took effect
};
using LiveOnce = std::function<Trial(const Recipe&)>;

/// The promise that a violation names, e.g. "P4".
std::string promise_of(const std::string& broken);

/// Removes kinds of faults one by one, then strikes, as long as the same promise is still broken. Returns a
/// recipe that breaks no promise unchanged.
Recipe shrunk(Recipe recipe, const LiveOnce& live);

}  // namespace rota::sim
