#include "master/loop/delay_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rota::master::loop {

std::optional<Delay> DelayWatch::note(Delay::Of of, Micros took, MonoTime now) {
  if (took < kWorthTelling) return std::nullopt;
  Kind& kind = kinds_[static_cast<std::size_t>(of)];
  kind.untold.of = of;
  kind.untold.longest = std::max(kind.untold.longest, std::chrono::duration_cast<Millis>(took));
  ++kind.untold.times;
  if (kind.told && now - *kind.told < kTellingPause) return std::nullopt;
  kind.told = now;
  return std::exchange(kind.untold, Delay{});
}

}  // namespace rota::master::loop
