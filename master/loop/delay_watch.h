// What holds the leader's loop up, so that a tick that was recorded late can be explained: the database
// took long to store a batch, or this process was not given the processor. Told at most every 10 s for
// each of the two. Pure.
#pragma once

#include <array>
#include <optional>

#include "common/base/time.h"

namespace rota::master::loop {

/// What is told: `times` delays since it was told of last, the longest of which took so long.
struct Delay {
  enum class Of { Store, Processor };
  Of of = Of::Store;
  Millis longest{0};
  int times = 0;
};

/// Thread: the loop's.
class DelayWatch {
 public:
  /// Shorter ones happen on any machine and are no news.
  static constexpr Millis kWorthTelling{200};
  static constexpr Millis kTellingPause{10'000};

  /// Something took so long and is over now. What should be told, if anything.
  std::optional<Delay> note(Delay::Of of, Micros took, MonoTime now);

 private:
  struct Kind {
    std::optional<MonoTime> told;
    Delay untold;
  };
  std::array<Kind, 2> kinds_;
};

}  // namespace rota::master::loop
