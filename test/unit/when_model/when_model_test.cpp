// Schedules as a whole: random jobs with entries of all kinds in several zones, calendars, edits of both, freezes,
// clock steps, naps, holds and takeovers, held against a plain enumeration of what the documents say.
// ROTA_WHEN_EVENTS=1000000 plays its longer form, ROTA_WHEN_SEED=N begins with another world.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "world.h"

namespace rota::when_model {
namespace {

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

}  // namespace

TEST_CASE("when model: each planned tick fires, or lies in a gap, as the documents say") {
  const auto seed = static_cast<std::uint64_t>(from_environment("ROTA_WHEN_SEED", 20261123));
  const std::int64_t wanted = from_environment("ROTA_WHEN_EVENTS", 250'000);
  Tally tally;
  std::uint64_t round = 0;
  for (; tally.events < wanted && tally.differences == 0; ++round) {
    INFO("ROTA_WHEN_SEED=", seed + round);
    World world(seed + round, tally);
    for (int i = 0; i < 100 && tally.events < wanted && tally.differences == 0; ++i) world.step();
    if (tally.differences > 0) MESSAGE("in the world of seed ", seed + round);
  }
  std::cout << "when model: " << tally.events << " events, " << tally.differences << " differences, " << round
            << " worlds from seed " << seed;
  for (const auto& [kind, number] : tally.kinds) std::cout << "; " << kind << " " << number;
  std::cout << std::endl;
  CHECK(tally.differences == 0);
}

}  // namespace rota::when_model
