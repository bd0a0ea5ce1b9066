// How long a test waits for what other threads, processes and servers do.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>

#include "common/base/time.h"

#ifndef ROTA_TEST_PATIENCE_MS
#define ROTA_TEST_PATIENCE_MS 120'000
#endif

namespace rota::testing {

/// The end of every such wait. No promise: only a test that would hang comes near it, and a machine that
/// is slow, busy or stands still for a while does not.
inline constexpr Millis kPatience{ROTA_TEST_PATIENCE_MS};

/// Timeouts in milliseconds for a job that must have come to a certain point before: one after the other, until it
/// has. The first suffices but on a machine that stands still.
inline constexpr std::int64_t kGrowingMs[] = {400, 1'600, 6'400, 25'600};

/// Of what has no latch to wait on, such as another process: looks every few milliseconds. True as soon as
/// the condition holds.
inline bool eventually(const std::function<bool()>& condition, Millis at_most = kPatience) {
  const MonoTime deadline = BootClock::now() + at_most;
  while (!condition()) {
    if (BootClock::now() > deadline) return false;
    ::poll(nullptr, 0, 3);
  }
  return true;
}

}  // namespace rota::testing
