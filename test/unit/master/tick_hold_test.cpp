#include "master/upkeep/tick_hold.h"

#include <doctest/doctest.h>

using namespace rota;
using master::ClockDoubt;
using master::ClockHold;
using master::reason_to_hold;

TEST_CASE("tick_hold: says all that holds the ticks, and nothing when nothing does") {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(reason_to_hold(false, {}).empty());
  CHECK(has(reason_to_hold(true, {}), "--accept-restore"));
  CHECK(has(reason_to_hold(false, {Millis{3600'400}, {}}), "3600 s ahead of"));
  CHECK(has(reason_to_hold(false, {Millis{-5000}, {}}), "5 s behind"));
  const std::string both = reason_to_hold(true, {Millis{5000}, {}});
  CHECK(has(both, "--accept-restore"));
  CHECK(has(both, "ahead of"));
  ClockHold step{Millis{3600'000}, wall_from_ms(1'700'000'000'400), false, false};
  const std::string ahead = reason_to_hold(false, {{}, step});
  CHECK(has(ahead, "stepped about 3600 s ahead at 2023-11-14T22:13:20"));
  CHECK(has(ahead, "--accept-clock"));
  CHECK_FALSE(has(ahead, "60 s"));
  step.by = Millis{-10'000};
  step.has_witness = true;
  CHECK(has(reason_to_hold(false, {{}, step}), "10 s back"));
  CHECK(has(reason_to_hold(false, {{}, step}), "agreed with it for 60 s"));
  step.is_new = true;
  CHECK(has(reason_to_hold(false, {{}, step}), "10 s behind other hosts' clocks"));
  CHECK_FALSE(has(reason_to_hold(false, {Millis{-10'000}, step}), "other hosts"));
}
