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

/// The end of every such wait. It is not a promise: only a test that hangs reaches it, and not a machine that
/// is slow, busy or stands still for a while.
inline constexpr Millis kPatience{ROTA_TEST_PATIENCE_MS};

/// Timeouts in milliseconds for a job that must first reach a certain point: tries one after the other until it
/// does. The first is enough except on a machine that stands still.
inline constexpr std::int64_t kGrowingMs[] = {400, 1'600, 6'400, 25'600};

/// For conditions without a latch, such as those of another process: checks every few milliseconds. True as soon
/// as the condition is true.
inline bool eventually(const std::function<bool()>& condition, Millis at_most = kPatience) {
  const MonoTime deadline = BootClock::now() + at_most;
  while (!condition()) {
    if (BootClock::now() > deadline) return false;
    ::poll(nullptr, 0, 3);
  }
  return true;
}

}  // namespace rota::testing
