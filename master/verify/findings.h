// What the checks found, counted by kind of trouble, with a few examples. Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "master/verify/verify.h"

namespace rota::master::verify {

inline constexpr std::size_t kMostExamples = 5;
/// How far two clocks may differ; beyond it the leader holds its ticks (P21).
inline constexpr Millis kClockSkew{2000};

/// Beyond every tick: the year 2200.
inline const WallTime kEndOfTime = wall_from_ms(7'258'118'400'000);

inline void add_example(Check& check, std::string example) {
  check.ok = false;
  if (check.examples.size() < kMostExamples) check.examples.push_back(std::move(example));
}

/// Something that should be there is not.
inline void miss(Check& check, std::string example) {
  ++check.missing;
  add_example(check, std::move(example));
}

/// Something is there twice, or should not be, or contradicts something else.
inline void wrong(Check& check, std::string example) {
  ++check.doubled;
  add_example(check, std::move(example));
}

inline std::string name_of(RunId run) { return fmt::format("run {}", run.value); }
inline Epoch epoch_of(RunId run) { return Epoch{run.value >> kIdCounterBits}; }

}  // namespace rota::master::verify
