// Days, weekdays and times of day as job files write them. A day here is a date
// without a zone; a time of day is in milliseconds since midnight. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace rota::model {

/// A date without a zone.
using Day = std::chrono::sys_days;

inline constexpr std::int64_t kMillisOfDay = 86'400'000;

/// Both ends belong to it.
struct DayRange {
  Day first{};
  Day last{};
  bool operator==(const DayRange&) const = default;
};

/// From `from_ms` on, before `to_ms`, within one day.
struct ClockRange {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = kMillisOfDay;
  bool is_empty() const { return from_ms >= to_ms; }
  bool has(std::int64_t ms) const { return ms >= from_ms && ms < to_ms; }
  bool operator==(const ClockRange&) const = default;
};

/// "2026-02-15", from 1970 to 2199. InvalidArgument names what is wrong.
Result<Day> day_from_text(std::string_view text);
std::string day_to_text(Day day);

/// "2026-02-15", or "2026-02-15..2026-02-23".
Result<DayRange> day_range_from_text(std::string_view text);

/// "mon-fri", "sat,sun", "fri-mon,wed": bit 0 is Sunday.
Result<std::uint8_t> weekdays_from_text(std::string_view text);

/// "18:00" or "18:00:30", in milliseconds.
Result<std::int64_t> clock_from_text(std::string_view text);

/// "09:30-16:00": both ends are inside, so `to_ms` lies a millisecond after the
/// second one. Where the second is the earlier one, the range runs over
/// midnight, and `to_ms` <= `from_ms`. "00:00-24:00" is a whole day.
Result<ClockRange> clock_range_from_text(std::string_view text);

}  // namespace rota::model
