// Why ticks do not fire now, in words for people: what the shell holds them for, and a watermark that is
// ahead of the clock. Through the watermark every tick is recorded already, so until the clock has reached it
// nothing fires, and an edit would take effect no sooner. Pure.
#pragma once

#include <string>

#include "common/base/time.h"
#include "master/core/snapshot.h"

namespace rota::master::core {

/// Two masters' clocks may differ by so much; a smaller difference does not count as a hold.
inline constexpr Millis kAheadUntold{2000};

inline bool is_ahead(WallTime watermark, WallTime now) { return watermark > now + kAheadUntold; }

/// Says until when; the same text as long as it lasts.
std::string ahead_reason(WallTime watermark);

/// Why ticks are held now; empty: they fire. `held`: the shell's reason. For a watermark that is ahead it
/// also says what the clock says and how long this lasts.
std::string hold_text(const std::string& held, WallTime watermark, WallTime now);
inline std::string hold_text(const Snapshot& snapshot, WallTime now) {
  return hold_text(snapshot.tick_hold, snapshot.watermark, now);
}

/// The same with words that do not change from second to second, for logs and verdicts.
std::string hold_reason(const std::string& held, WallTime watermark, WallTime now);
inline std::string hold_reason(const Snapshot& snapshot, WallTime now) {
  return hold_reason(snapshot.tick_hold, snapshot.watermark, now);
}

}  // namespace rota::master::core
