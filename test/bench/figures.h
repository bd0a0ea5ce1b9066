// What the benchmarks have in common when they count: percentiles, rates, and the one line that each
// prints. Every line carries its limit or its peer from the same run, since absolute figures move with
// the machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rota::bench {

/// The value below which `share` (0 to 1) of the samples lie; 0 when there are none.
double percentile(std::vector<double> samples, double share);
/// A floor is met when the lower quartile meets it, a ceiling when the upper one does. Between two samples the
/// worse counts, so that of two or three all count.
double lower_quartile(std::vector<double> samples);
double upper_quartile(std::vector<double> samples);
inline double median(std::vector<double> samples) { return percentile(std::move(samples), 0.5); }

/// Work done and the time it took.
struct Rate {
  std::int64_t count = 0;
  double seconds = 0;
  double cpu_seconds = 0;              ///< of all processes that took part
  std::map<std::string, double> cpu_of;  ///< the same by name of program, see CpuMeter
  std::vector<double> call_ms;         ///< where each call submits one run: how long each took
  double per_second() const { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }
  double cpu_us_each(const std::string& program) const {
    const auto found = cpu_of.find(program);
    return found != cpu_of.end() && count > 0 ? found->second * 1e6 / static_cast<double>(count) : 0;
  }
  double cpu_us_each() const { return count > 0 ? cpu_seconds * 1e6 / static_cast<double>(count) : 0; }
};

/// "bench=NAME key=value …", built up and printed once.
class Line {
 public:
  explicit Line(std::string_view name);
  /// `digits` after the point.
  Line& add(std::string_view key, double value, int digits = 0);
  Line& add(std::string_view key, std::string_view value);
  /// The median under `key`, the quartiles under key_q1 and key_q3.
  Line& add_spread(std::string_view key, const std::vector<double>& samples, int digits = 0);
  /// The percentile 0.99 under key_p99 where there are 1,000 samples, else the largest under key_worst.
  Line& add_tail(std::string_view key, const std::vector<double>& samples, int digits = 0);
  /// As it is by now.
  const std::string& text() const { return text_; }
  /// Ends the line of a figure that has no floor.
  void print();
  /// Ends the line with PASS, or with the floor that was missed.
  void print_verdict(bool passed, std::string_view floor);

 private:
  std::string text_;
};

}  // namespace rota::bench
