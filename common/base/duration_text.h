// Durations as people write them: "1h30m", "500ms", "2d". Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota {

/// Reads a sum of whole numbers with units d, h, m, s, ms, each at most once and in falling order
/// ("1h30m"), or "0". InvalidArgument names what is wrong; at most 100 years.
Result<Millis> parse_duration(std::string_view text);

/// The shortest text that parse_duration reads as the same: "1h30m", "500ms", "0s".
std::string format_duration(Millis duration);

/// Reads a moment as RFC 3339 with its zone: "2026-03-29T02:30:00Z", "2026-03-29 02:30:00.5+02:00".
Result<WallTime> parse_moment(std::string_view text);

/// "2026-03-29T02:30:00.123Z".
std::string format_moment(WallTime moment);

}  // namespace rota
