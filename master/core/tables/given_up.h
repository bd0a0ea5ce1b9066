// Attempts that were counted as lost and may still report: their late results are kept, not refused.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "common/model/run.h"

namespace rota::master::core {

/// Thread: the Scheduler's. Bounded: the oldest are forgotten first.
class GivenUp {
 public:
  static constexpr std::size_t kMost = 100'000;

  bool contains(model::AttemptKey key) const { return keys_.contains(key); }
  void add(model::AttemptKey key) {
    if (!keys_.insert(key).second) return;
    order_.push_back(key);
    while (order_.size() > kMost) {
      keys_.erase(order_.front());
      order_.pop_front();
    }
  }
  /// It has reported.
  void remove(model::AttemptKey key) { keys_.erase(key); }

 private:
  std::set<model::AttemptKey> keys_;
  std::deque<model::AttemptKey> order_;
};

}  // namespace rota::master::core
