// The pause before a notification is tried again. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/time.h"
#include "master/core/notify/notify_rules.h"

namespace rota::master::core {

/// After so many tries that failed: a second, then twice the last pause, up to ten minutes.
constexpr Millis pause_before_try(std::int32_t failed) {
  const int doublings = std::clamp(failed - 1, 0, 20);
  return std::min(kFirstTryAgain * (std::int64_t{1} << doublings), kLastTryAgain);
}

}  // namespace rota::master::core
