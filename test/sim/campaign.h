// Runs many seeds in several processes, and shrinks a failing one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "marks.h"
#include "recipe.h"

namespace rota::sim {

/// The result of one seed.
struct Lived {
  std::string broken;                    ///< empty: every promise was kept
  std::uint64_t hash = 0;
  std::int64_t events = 0;
  std::int64_t lived_ms = 0;
};

/// Runs in this process. A failed check of the product ends it; `on_abort` prints the seed.
Lived live(const Recipe& recipe, Marks& marks);

/// Runs in a process of its own, so that a failed check is a verdict too. `kinds` and `strikes`, when given,
/// receive the kinds of faults that were on and the strikes that took effect.
std::string live_apart(const Recipe& recipe, std::vector<std::string>* kinds = nullptr,
                       std::vector<std::pair<std::string, int>>* strikes = nullptr);

struct CampaignPlan {
  std::uint64_t from = 1;
  std::uint64_t seeds = 500;
  int jobs = 1;
  int double_every = 100;                ///< runs every such seed twice; the traces must agree
  std::vector<std::uint64_t> first;      ///< seeds that once failed, replayed before all others
};

struct CampaignResult {
  Marks marks;
  std::uint64_t lived = 0;               ///< worlds
  std::int64_t events = 0;
  std::int64_t lived_ms = 0;
  std::uint64_t failed_seed = 0;
  std::string broken;
};

CampaignResult run_campaign(const CampaignPlan& plan);

/// Removes kinds of faults one by one, then strikes, while the seed still fails. Prints the ones that are
/// needed, and the trace of that smallest world.
int shrink(std::uint64_t seed);

}  // namespace rota::sim
