#include "test/bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rota::bench {

double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double last = static_cast<double>(samples.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::lround(last * share));
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<std::size_t>(at)];
}

Line::Line(std::string_view name) : text_(fmt::format("bench={}", name)) {}

Line& Line::add(std::string_view key, double value, int digits) {
  text_ += fmt::format(" {}={:.{}f}", key, value, digits);
  return *this;
}

Line& Line::add(std::string_view key, std::string_view value) {
  text_ += fmt::format(" {}={}", key, value);
  return *this;
}

void Line::print_verdict(bool passed, std::string_view floor) {
  fmt::print("{} floor={} verdict={}\n", text_, floor, passed ? "PASS" : "below_the_floor");
  std::fflush(stdout);
}

}  // namespace rota::bench
