// Counts measurements by size, for metrics: how many were within each bound, how many in total, their sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rota {

/// Thread: the owner's. Copies are cheap (a dozen numbers).
class Histogram {
 public:
  /// `bounds` grow; a last bucket without a bound is added.
  explicit Histogram(std::vector<double> bounds = {})
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void add(double value) {
    std::size_t bucket = 0;
    while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
    ++counts_[bucket];
    sum_ += value;
  }

  const std::vector<double>& bounds() const { return bounds_; }
  /// The count of each single bucket; the last bucket is beyond all bounds.
  const std::vector<std::int64_t>& counts() const { return counts_; }
  double sum() const { return sum_; }
  std::int64_t total() const {
    std::int64_t all = 0;
    for (const std::int64_t count : counts_) all += count;
    return all;
  }

 private:
  std::vector<double> bounds_;
  std::vector<std::int64_t> counts_;
  double sum_ = 0;
};

/// Bounds in seconds from a millisecond to a minute.
inline Histogram seconds_histogram() {
  return Histogram({0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60});
}

}  // namespace rota
