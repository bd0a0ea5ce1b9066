// How many ticks one batch may hold, so that deciding and storing it takes no longer than other work may
// wait: half as many after a batch that took too long, and slowly more again after quick ones. Pure.
#pragma once

#include <cstdint>

#include "common/base/time.h"

namespace rota::master::loop {

class BatchBound {
 public:
  static constexpr Millis kTarget{250};
  static constexpr std::int32_t kLeast = 100;
  static constexpr std::int32_t kMost = 5000;

  std::int32_t most() const { return most_; }

  /// A batch with so many ticks was decided and stored in this time.
  void note(std::int64_t ticks, Micros took);

 private:
  std::int32_t most_ = kMost / 4;
};

}  // namespace rota::master::loop
