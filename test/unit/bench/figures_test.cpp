#include <doctest/doctest.h>

#include "test/bench/figures.h"

namespace {

using namespace rota::bench;

TEST_CASE("figures: quartiles lie beside the median") {
  const std::vector<double> samples{9, 1, 5, 3, 7};
  CHECK(lower_quartile(samples) == 3);
  CHECK(median(samples) == 5);
  CHECK(upper_quartile(samples) == 7);
  CHECK(median({}) == 0);
}

TEST_CASE("figures: of two or three samples the worst decides") {
  CHECK(lower_quartile({0.9, 0.5, 0.8}) == 0.5);
  CHECK(upper_quartile({0.9, 0.5, 0.8}) == 0.9);
  CHECK(lower_quartile({0.9, 0.5}) == 0.5);
  CHECK(lower_quartile({}) == 0);
}

TEST_CASE("figures: a line names the median and both quartiles") {
  CHECK(Line("x").add_spread("ratio", {0.1, 0.2, 0.3, 0.4, 0.5}, 1).text() ==
        "bench=x ratio=0.3 ratio_q1=0.2 ratio_q3=0.4");
}

TEST_CASE("figures: of fewer than 1,000 samples the worst is told, and no percentile of them") {
  std::vector<double> samples{1, 2, 30};
  CHECK(Line("x").add_tail("ms", samples).text() == "bench=x ms_worst=30");
  samples.assign(1000, 2);
  samples.back() = 30;
  CHECK(Line("x").add_tail("ms", samples).text() == "bench=x ms_p99=2");
}

TEST_CASE("figures: what a program used is told for each run") {
  Rate rate;
  rate.count = 1000;
  rate.cpu_of = {{"rota-master", 0.05}};
  CHECK(rate.cpu_us_each("rota-master") == doctest::Approx(50));
  CHECK(rate.cpu_us_each("mariadbd") == 0);
}

}  // namespace
