// The calendar part of a cron: which dates and times of day match, without any zone. Pure; private
// to the cron files.
#pragma once

#include <cstdint>
#include <optional>

#include "master/core/time/cron.h"

namespace rota::master::core {

inline constexpr std::int64_t kDaySeconds = 86'400;

// Offsets of a zone lie within 26 hours of each other, so a local time is missing or repeated only
// that near a change.
inline constexpr std::int64_t kLongestOverlap = 26 * 3600;

/// How many local seconds in [from, to) match; arithmetic for all but the borders.
std::int64_t count_local_matches(const CronExpression& cron, std::int64_t from, std::int64_t to);

}  // namespace rota::master::core
