#include "shrink_rules.h"

#include <doctest/doctest.h>

namespace rota::sim {
namespace {

/// A world that breaks P4 when the second crash coincides with lost messages, and P1 without any fault.
Trial live_fake(const Recipe& recipe) {
  Trial trial;
  const auto is_on = [&](const char* kind) { return !recipe.without.contains(kind); };
  for (const char* kind : {"crash", "freeze", "lost", "late"}) {
    if (is_on(kind)) trial.kinds.emplace_back(kind);
  }
  for (const char* kind : {"crash", "freeze"}) {
    for (int ordinal = 1; is_on(kind) && ordinal <= 3; ++ordinal) {
      if (!recipe.skipped.contains({kind, ordinal})) trial.strikes.emplace_back(kind, ordinal);
    }
  }
  const bool crashed = is_on("crash") && !recipe.skipped.contains({"crash", 2});
  if (crashed && is_on("lost")) trial.broken = " P4: two at once";
  if (!is_on("crash")) trial.broken = "P1: a tick is missing";
  return trial;
}

}  // namespace

TEST_CASE("shrink: removes every kind and strike that the failure does not need") {
  const Recipe smallest = shrunk(Recipe{}, live_fake);
  CHECK(smallest.without == std::set<std::string>{"freeze", "late"});
  CHECK(smallest.skipped == std::set<std::pair<std::string, int>>{{"crash", 1}, {"crash", 3}});
}

TEST_CASE("shrink: a different broken promise does not count as the same failure") {
  CHECK(!shrunk(Recipe{}, live_fake).without.contains("crash"));
}

TEST_CASE("shrink: a recipe that keeps every promise is returned unchanged") {
  const Recipe same = shrunk(Recipe{}, [](const Recipe&) { return Trial{"", {"crash"}, {{"crash", 1}}}; });
  CHECK(same.without.empty());
  CHECK(same.skipped.empty());
}

}  // namespace rota::sim
