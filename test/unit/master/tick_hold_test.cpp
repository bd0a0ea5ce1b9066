#include "master/tick_hold.h"

#include <doctest/doctest.h>

using namespace rota;
using master::reason_to_hold;

TEST_CASE("tick_hold: says all that holds the ticks, and nothing when nothing does") {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(reason_to_hold(false, std::nullopt).empty());
  CHECK(has(reason_to_hold(true, std::nullopt), "--accept-restore"));
  CHECK(has(reason_to_hold(false, Millis{3600'400}), "3600 s ahead of"));
  CHECK(has(reason_to_hold(false, Millis{-5000}), "5 s behind"));
  const std::string both = reason_to_hold(true, Millis{5000});
  CHECK(has(both, "--accept-restore"));
  CHECK(has(both, "ahead of"));
}
