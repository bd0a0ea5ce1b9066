// The memory store, on which unit tests and tools stand, does what the real database does.
#include <doctest/doctest.h>

#include "test/contract/agreement/store_script.h"

namespace rota::agreement {

namespace {

constexpr int kStoreSteps = 40;
constexpr std::string_view kStored = "outcome 0 ";

/// The lines in which the two differ, and no more.
std::string only_apart(const std::string& text, const std::string& other) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at + 1);
    if (other.find(line) == std::string::npos) out += line;
    at = end + 1;
  }
  return out.empty() ? "(only what the other has not, or another order)" : out;
}

std::string apply_both(std::uint64_t seed) {
  const auto sides = master::store::testing::led_backends();
  REQUIRE(sides.size() == 2);
  StoreScript dice(seed);
  std::vector<std::string> script;
  for (int i = 0; i < kStoreSteps; ++i) {
    const StoreStep step = dice.next();
    script.push_back(text_of(step));
    std::string seen[2];
    for (std::size_t side = 0; side < 2; ++side) {
      seen[side] = play(sides[side], step) + look(sides[side], step);
    }
    dice.note(step, seen[0].starts_with(kStored));
    if (seen[0] == seen[1]) continue;
    return disagreement(seed, script, only_apart(seen[1], seen[0]), only_apart(seen[0], seen[1]));
  }
  return "";
}

}  // namespace

TEST_CASE("agreement: the memory store takes random batches as the real database does") {
  const Seeds seeds = seeds_to_try(2);
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::string apart = apply_both(seeds.from + i);
    REQUIRE_MESSAGE(apart.empty(), apart);
  }
  MESSAGE("figure: store_agreement scripts=", seeds.count, " steps=", seeds.count * kStoreSteps);
}

}  // namespace rota::agreement
