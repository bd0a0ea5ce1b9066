// How many workers a pool should have: the pure rules.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "master/core/workers/scale_rules.h"

namespace rota::master::core {
namespace {

using model::ScaleReason;

const WallTime kNoon = wall_from_ms(1'700'000'000'000);

/// Workers with 4 slots each, all of which accept.
PoolLoad scaled_load(std::int64_t workers, double demand) {
  PoolLoad load;
  load.demand = demand;
  load.is_idle = demand == 0;
  load.has_waiting = demand > static_cast<double>(workers * 4);
  load.slots = workers * 4;
  load.accepting = load.here = workers;
  return load;
}

ScaleBefore since_long(std::int64_t wanted) { return {wanted, kNoon - Millis{600'000}, false}; }

struct Row {
  const char* what;
  PoolLoad load;
  ScaleLimits limits;
  ScaleBefore before;
  std::int64_t wanted;
  ScaleReason reason;
};

}  // namespace

TEST_CASE("scale rules: limits first, then the load, then the cool-down") {
  const ScaleLimits wide{0, 10}, one_to_three{1, 3};
  const ScaleBefore rose{2, kNoon - Millis{1000}, false}, fell{2, kNoon - Millis{1000}, true};
  ScaleBefore unseen = since_long(4);
  unseen.may_fall = false;
  PoolLoad unknown = scaled_load(0, 3);
  PoolLoad late = scaled_load(2, 7);
  late.registering = 2;
  late.here = 4;
  PoolLoad one_drained = scaled_load(1, 1);
  one_drained.here = 2;
  one_drained.drained = 1;
  PoolLoad all_drained = scaled_load(0, 1);
  all_drained.here = all_drained.drained = 1;
  all_drained.per_worker = 4;
  PoolLoad held_back = scaled_load(2, 7);
  held_back.slots = 4;
  held_back.accepting = 1;
  const std::vector<Row> rows = {
      {"below the minimum", scaled_load(1, 0), {2, 5}, since_long(1), 2, ScaleReason::Minimum},
      {"above the maximum, whatever the load", scaled_load(5, 99), one_to_three, since_long(5), 3,
       ScaleReason::Maximum},
      {"between both", scaled_load(2, 4), wide, since_long(2), 2, ScaleReason::Steady},
      {"0.8 is not above 0.8", scaled_load(1, 3.2), wide, since_long(1), 1, ScaleReason::Steady},
      {"above 0.8", scaled_load(1, 3.3), wide, since_long(1), 2, ScaleReason::Load},
      {"far above: at once as many as it takes", scaled_load(1, 19), wide, since_long(1), 9, ScaleReason::Load},
      {"more than the maximum", scaled_load(1, 500), one_to_three, since_long(1), 3, ScaleReason::Load},
      {"at the maximum", scaled_load(3, 500), one_to_three, since_long(3), 3, ScaleReason::Maximum},
      {"below 0.3", scaled_load(4, 3), wide, since_long(4), 2, ScaleReason::Load},
      {"below 0.3 with two", scaled_load(2, 2), wide, since_long(2), 1, ScaleReason::Load},
      {"one worker with little to do stays", scaled_load(1, 1), wide, since_long(1), 1, ScaleReason::Steady},
      {"nothing to do", scaled_load(4, 0), wide, since_long(4), 0, ScaleReason::Load},
      {"nothing to do, and a minimum", scaled_load(4, 0), one_to_three, since_long(3), 1, ScaleReason::Load},
      {"at the minimum", scaled_load(1, 0), one_to_three, since_long(1), 1, ScaleReason::Minimum},
      {"nobody there, and runs wait", scaled_load(0, 3), wide, since_long(0), 1, ScaleReason::Queue},
      {"nobody there, and none is allowed", scaled_load(0, 3), {0, 0}, since_long(0), 0, ScaleReason::Maximum},
      {"nobody there, and nothing waits", scaled_load(0, 0), wide, since_long(0), 0, ScaleReason::Steady},
      {"one is to come, and what it can do is not known", unknown, wide, since_long(1), 1,
       ScaleReason::Unknown},
      {"those that register count as they should come", late, wide, since_long(4), 4, ScaleReason::Steady},
      {"those that are left out do not", held_back, wide, since_long(2), 5, ScaleReason::Load},
      {"one that an operator drained keeps its place, and no other goes for it", one_drained, wide, since_long(1),
       1, ScaleReason::Steady},
      {"an operator drained the only one", all_drained, wide, since_long(1), 2, ScaleReason::Load},
      {"it rose a moment ago", scaled_load(2, 8), wide, rose, 2, ScaleReason::CoolDown},
      {"it may rise when it fell a moment ago", scaled_load(2, 8), wide, fell, 4, ScaleReason::Load},
      {"it does not fall when it rose a moment ago", scaled_load(2, 0), wide, rose, 2, ScaleReason::CoolDown},
      {"nor when it fell", scaled_load(2, 0), wide, fell, 2, ScaleReason::CoolDown},
      {"nor when this Term has just begun", scaled_load(4, 0), wide, unseen, 4, ScaleReason::CoolDown},
      {"then it may rise", scaled_load(4, 15), wide, unseen, 7, ScaleReason::Load},
      {"and is put within its limits", scaled_load(4, 0), one_to_three, unseen, 3, ScaleReason::Maximum},
      {"a limit waits for nothing", scaled_load(2, 4), {3, 5}, rose, 3, ScaleReason::Minimum}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const ScaleWish wish = wish_for(row.load, row.limits, row.before, kNoon);
    CHECK(wish.wanted == row.wanted);
    CHECK(name_of(wish.reason) == name_of(row.reason));
  }
}

/// Whatever the figures: within the limits, and a change by the load is none that the next look takes back.
TEST_CASE("scale rules: no number is outside its limits, and none flaps") {
  for (std::int64_t least = 0; least <= 3; ++least) {
    for (std::int64_t most = least; most <= 9; ++most) {
      for (std::int64_t before = 0; before <= 10; ++before) {
        for (int demand = 0; demand <= 60; ++demand) {
          const ScaleLimits limits{least, most};
          const ScaleWish wish = wish_for(scaled_load(before, demand), limits, since_long(before), kNoon);
          REQUIRE(wish.wanted >= least);
          REQUIRE(wish.wanted <= most);
          if (wish.reason != ScaleReason::Load || wish.wanted == before) continue;
          const ScaleWish next = wish_for(scaled_load(wish.wanted, demand), limits, since_long(wish.wanted), kNoon);
          const bool turns_back = (wish.wanted > before) ? next.wanted < wish.wanted : next.wanted > wish.wanted;
          CAPTURE(before);
          CAPTURE(demand);
          CAPTURE(wish.wanted);
          CAPTURE(next.wanted);
          REQUIRE_FALSE(turns_back);
        }
      }
    }
  }
}

TEST_CASE("scale rules: an average follows what is, at its pace") {
  CHECK(averaged(0, 10, Millis{1000}, Millis{0}) == 10);
  CHECK(averaged(0, 10, Millis{1000}, Millis{1000}) == 5);
  CHECK(averaged(4, 10, Millis{0}, Millis{1000}) == 4);
  CHECK(averaged(4, 10, Millis{-5}, Millis{1000}) == 4);
}

TEST_CASE("scale rules: who gets nothing goes first, then who runs least, the newest of them") {
  const auto one = [](const char* id, std::size_t running, bool accepts, int joined) {
    return ScaleCandidate{{id, "i1"}, running, accepts, kNoon + Millis{joined}};
  };
  const std::vector<ScaleCandidate> all = {one("old", 0, true, 1), one("new", 0, true, 9), one("busy", 3, true, 10),
                                           one("excluded", 2, false, 0)};
  std::vector<std::string> order;
  for (const auto& each : who_goes(all, 9)) order.push_back(each.key.id);
  CHECK(order == std::vector<std::string>{"excluded", "new", "old", "busy"});
  CHECK(who_goes(all, 1).size() == 1);
}

}  // namespace rota::master::core
