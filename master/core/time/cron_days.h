// The calendar part of a cron: which dates and times of day match, without any zone. Pure; private
// to the cron files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "master/core/time/cron.h"

namespace rota::master::core {

inline constexpr std::int64_t kDaySeconds = 86'400;

// Offsets of a zone lie within 26 hours of each other, so a local time is missing or repeated only
// that near a change.
inline constexpr std::int64_t kLongestOverlap = 26 * 3600;

/// How many local seconds in [from, to) match; arithmetic for all but the borders.
std::int64_t count_local_matches(const CronExpression& cron, std::int64_t from, std::int64_t to);

/// The first matching date at or after `day` (days since 1970).
std::optional<std::int64_t> next_cron_day(const CronExpression& cron, std::int64_t day);
/// Bit i: whether the day i days after `first` counts, for a month at least.
using DayFilter = std::function<std::uint64_t(std::int64_t first)>;
/// The same among days that count, and not after `through`: each month is one step.
std::optional<std::int64_t> next_cron_day(const CronExpression& cron, std::int64_t day, std::int64_t through,
                                          const DayFilter& counts);

/// The first matching second of a day at or after `from`, or -1; and how many lie before `second`, which may
/// be the end of the day.
int next_time_of_day(const CronExpression& cron, int from);
std::int64_t count_times_before(const CronExpression& cron, int second);

}  // namespace rota::master::core
