// How a failing world is made smaller. Pure: it is told how a recipe ends.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recipe.h"

namespace rota::sim {

/// How a world of some recipe ended.
struct Trial {
  std::string broken;                                ///< empty: every promise was kept
  std::vector<std::string> kinds;                    ///< of faults that were on
  std::vector<std::pair<std::string, int>> strikes;  ///< that took effect
};
using LiveOnce = std::function<Trial(const Recipe&)>;

/// The promise that a violation names, e.g. "P4".
std::string promise_of(const std::string& broken);

/// Leaves out one kind of fault, then one strike, after the other, as long as the same promise is still
/// broken. A recipe that breaks none comes back as it is.
Recipe shrunk(Recipe recipe, const LiveOnce& live);

}  // namespace rota::sim
