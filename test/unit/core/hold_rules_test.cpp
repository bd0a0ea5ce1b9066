#include "master/core/time/hold_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master::core;

namespace {
const WallTime kNow = wall_from_ms(1'700'000'003'000);  // 2023-11-14T22:13:23Z
}

TEST_CASE("hold: a watermark ahead of the clock is told with its end and the remedy") {
  const std::string text = hold_text("", kNow + Millis{3'597'000}, kNow);
  CHECK(text == "ticks are recorded until 2023-11-14T23:13:20Z, the clock says 2023-11-14T22:13:23Z; they fire "
                "again in 59m57s, or: rota-master --rewind-ticks --config FILE");
  CHECK(hold_text("the database is older", kNow + Millis{10'000}, kNow).starts_with("the database is older; ticks"));
  CHECK(hold_reason("", kNow + Millis{10'000}, kNow) == hold_reason("", kNow + Millis{10'000}, kNow + Millis{5000}));
}

TEST_CASE("hold: what two masters' clocks may differ by is none") {
  CHECK(hold_text("", kNow + Millis{2000}, kNow).empty());
  CHECK(hold_reason("", kNow + Millis{2000}, kNow).empty());
  CHECK_FALSE(hold_text("", kNow + Millis{2001}, kNow).empty());
  CHECK(hold_text("a reason", kNow, kNow) == "a reason");
}
