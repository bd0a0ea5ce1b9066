// When the worker proper is started again after it died. Pure.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace rota::worker::warden {

/// A life shorter than this counts as a quick death.
inline constexpr Millis kQuickLife{2000};
/// So many quick deaths in a row, with no attempt held, and the warden ends: the watchdog above it
/// decides then.
inline constexpr int kMostQuickDeaths = 10;

/// At once for the first three; then 100 ms, doubled for each further quick death, at most 5 s. While
/// attempts are held at most 200 ms: their vouchers would not last for longer pauses.
constexpr Millis restart_delay(int quick_deaths, bool is_idle) {
  if (quick_deaths <= 3) return Millis{0};
  return std::min(Millis{100 << std::min(quick_deaths - 4, 10)}, is_idle ? Millis{5000} : Millis{200});
}

/// Exit statuses by which the proper says "this was meant": 0 (drained), 2 (wrong configuration, a
/// rival of the same id).
constexpr bool is_deliberate(int exit_status) { return exit_status == 0 || exit_status == 2; }

}  // namespace rota::worker::warden
