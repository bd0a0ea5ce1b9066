// What delayed the leader's loop, so that a tick that was recorded late can be explained: the database took
// long to store a batch, or this process did not get the processor. Each of the two is told at most every
// 10 s. Pure.
#pragma once

#include <array>
#include <optional>

#include "common/base/time.h"

namespace rota::master::loop {

/// What is told: so many delays since it was last told, and how long the longest took.
struct Delay {
  enum class Of { Store, Processor };
  Of of = Of::Store;
  Millis longest{0};
  int times = 0;
};

/// Thread: the loop's.
class DelayWatch {
 public:
  /// Shorter ones happen on any machine and are not worth a line.
  static constexpr Millis kWorthTelling{200};
  static constexpr Millis kTellingPause{10'000};

  /// Something took so long and is over now. Gives what should be told, if anything.
  std::optional<Delay> note(Delay::Of of, Micros took, MonoTime now);

 private:
  struct Kind {
    std::optional<MonoTime> told;
    Delay untold;
  };
  std::array<Kind, 2> kinds_;
};

}  // namespace rota::master::loop
