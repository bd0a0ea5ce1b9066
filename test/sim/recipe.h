// What a world is made from: its seed, and the faults that are left out while a failure is shrunk.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace rota::sim {

struct Recipe {
  std::uint64_t seed = 1;
  std::set<std::string> without;                        ///< kinds of faults that do not happen
  std::set<std::pair<std::string, int>> skipped;        ///< single strikes: kind, ordinal
  bool verbose = false;
};

}  // namespace rota::sim
