#include <doctest/doctest.h>

#include "test/bench/effort.h"

namespace {

using rota::bench::Effort;
using rota::bench::read_effort;

const Effort kDefaults{.seconds = 60, .count = 1000};

TEST_CASE("effort: an option that is not given keeps the benchmark's own value") {
  const auto effort = read_effort(kDefaults, {"--pairs", "3", "--seconds", "0.5"});
  REQUIRE(effort);
  CHECK(effort->pairs == 3);
  CHECK(effort->seconds == 0.5);
  CHECK(effort->count == 1000);
}

TEST_CASE("effort: no history is a wish, no pairs are none") {
  REQUIRE(read_effort(kDefaults, {"--history", "0"}));
  CHECK_FALSE(read_effort(kDefaults, {"--pairs", "0"}));
  CHECK_FALSE(read_effort(kDefaults, {"--seconds", "0"}));
}

TEST_CASE("effort: an unknown option, a missing value and what is no number are refused") {
  CHECK_FALSE(read_effort(kDefaults, {"--often", "3"}));
  CHECK_FALSE(read_effort(kDefaults, {"--pairs"}));
  CHECK_FALSE(read_effort(kDefaults, {"--pairs", "three"}));
  CHECK_FALSE(read_effort(kDefaults, {"--pairs", "3x"}));
  CHECK_FALSE(read_effort(kDefaults, {"--count", "1e300"}));
  CHECK_FALSE(read_effort(kDefaults, {"--seconds", "nan"}));
}

}  // namespace
