#include "test/bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace rota::bench {
namespace {
constexpr std::size_t kTailSamples = 1000;
}

double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double last = static_cast<double>(samples.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::lround(last * share));
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<std::size_t>(at)];
}

double lower_quartile(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : samples[(samples.size() - 1) / 4];
}

double upper_quartile(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end(), std::greater<>());
  return samples.empty() ? 0 : samples[(samples.size() - 1) / 4];
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

Line& Line::add_spread(std::string_view key, const std::vector<double>& samples, int digits) {
  add(key, median(samples), digits);
  add(fmt::format("{}_q1", key), lower_quartile(samples), digits);
  return add(fmt::format("{}_q3", key), upper_quartile(samples), digits);
}

Line& Line::add_tail(std::string_view key, const std::vector<double>& samples, int digits) {
  if (samples.size() < kTailSamples) return add(fmt::format("{}_worst", key), percentile(samples, 1), digits);
  return add(fmt::format("{}_p99", key), percentile(samples, 0.99), digits);
}

void Line::print() {
  fmt::print("{}\n", text_);
  std::fflush(stdout);
}

void Line::print_verdict(bool passed, std::string_view floor) {
  fmt::print("{} floor={} verdict={}\n", text_, floor, passed ? "PASS" : "below_the_floor");
  std::fflush(stdout);
}

}  // namespace rota::bench
