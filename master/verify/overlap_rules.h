// How long two attempts ran beside each other, as their rows tell. The one rule for hosts that stood still:
// while nothing of an attempt ran it was beside nobody, and on a host that goes on it is ended at once.
// Pure.
#pragma once

#include <algorithm>
#include <optional>

#include "common/model/run.h"

namespace rota::master::verify {

/// An attempt whose host stood still beyond its vouchers is ended so soon after it goes on.
inline constexpr Millis kMostAfterThaw{100};

/// How much of [from, to] a stretch covers.
inline Millis covered(WallTime from, WallTime to, const std::optional<model::StoodStill>& still) {
  if (!still) return Millis{0};
  return std::max(Millis{0}, std::min(to, still->to) - std::max(from, still->from));
}

/// Of an overlap [from, to]: how much is left without the longer of the stretches in which one of the two
/// stood still.
inline Millis lived_beside(WallTime from, WallTime to, const std::optional<model::StoodStill>& one,
                           const std::optional<model::StoodStill>& other) {
  return (to - from) - std::max(covered(from, to, one), covered(from, to, other));
}

}  // namespace rota::master::verify
