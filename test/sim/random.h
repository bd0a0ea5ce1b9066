// Random numbers of a simulated world: the same seed gives the same world.
#pragma once

#include <cstdint>

#include "common/base/time.h"

namespace rota::sim {

/// splitmix64. `stream` separates the generators of one seed. Thread: one.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_((seed * 0x9e3779b97f4a7c15ull + 1) ^ (stream * 0xd1342543de82ef95ull)) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  std::size_t index(std::size_t n) { return static_cast<std::size_t>(below(static_cast<std::int64_t>(n))); }
  bool chance(int percent) { return below(100) < percent; }
  bool per_mille(int n) { return n > 0 && below(1000) < n; }
  Millis between(Millis least, Millis most) {
    return least + Millis{below((most - least).count() + 1)};
  }

 private:
  std::uint64_t state_;
};

}  // namespace rota::sim
