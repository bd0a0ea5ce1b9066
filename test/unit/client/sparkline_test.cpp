#include <doctest/doctest.h>

#include <limits>

#include "client/command/sparkline.h"

using namespace rota::client;

TEST_CASE("sparkline: eight heights from nothing to the most, and a space for what is not known") {
  CHECK(sparkline({0.0, 50.0, 100.0}, 100) == "▁▅█");
  CHECK(sparkline({std::nullopt, 100.0, std::nullopt}, 100) == " █ ");
  CHECK(sparkline({-5.0, 700.0}, 100) == "▁█");
  CHECK(sparkline({std::numeric_limits<double>::quiet_NaN(), 1.0}, 1) == " █");
  CHECK(sparkline({0.0, 0.0}, 0) == "▁▁");
  CHECK(sparkline({}, 100).empty());
}

TEST_CASE("sparkline: many values are folded into cells, each the average of what is known") {
  CHECK(folded({1.0, 3.0, std::nullopt, 8.0}, 2) == Values{2.0, 8.0});
  CHECK(folded({std::nullopt, std::nullopt, 4.0}, 3) == Values{std::nullopt, std::nullopt, 4.0});
  CHECK(folded({std::nullopt, std::nullopt, 4.0, 4.0}, 2) == Values{std::nullopt, 4.0});
  Values day(1440, 5.0);
  CHECK(folded(day, 72) == Values(72, 5.0));
}
