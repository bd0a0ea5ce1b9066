// How much of the slots is in use, how that grows, and when they end: from what was noted each minute. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/node_minute.h"

namespace rota::master::core {

/// So much of the slots should be free, in percent.
inline constexpr std::int32_t kReservePercent = 30;
/// Less than that for so long is told.
inline constexpr int kMinutesShort = 15;
/// Growth is not guessed from less: of time, and of minutes in it.
inline constexpr Millis kGrowthSpan{3'600'000};
inline constexpr std::size_t kGrowthMinutes = 30;
/// Nor is an end that is farther away.
inline constexpr std::int64_t kFarthestDays = 366;

struct PoolCapacity {
  std::string pool;                     ///< empty: all pools
  std::int32_t workers = 0;
  double slots = 0, used = 0;           ///< in the newest minute
  std::int64_t used_most = 0;           ///< in all of them
  double free_percent = 0;              ///< of the slots; below 0: more is in use than there are
  bool is_short = false;                ///< less than the reserve is free
  std::int64_t minutes = 0;             ///< that were looked at
  WallTime newest{};                    ///< the beginning of the last
  std::optional<double> growth_per_day; ///< in slots; unset: there is not enough history
  std::optional<WallTime> reserve_ends, slots_end;  ///< unset: not within a year at this growth, or not known
};

/// One row a minute, oldest first: those of several leaders put together.
std::vector<model::PoolMinute> whole_minutes(std::vector<model::PoolMinute> rows);
std::vector<model::WorkerMinute> whole_minutes(std::vector<model::WorkerMinute> rows);

/// Of one pool, minutes oldest first, at least one.
PoolCapacity capacity_of(const std::vector<model::PoolMinute>& minutes, std::int32_t reserve_percent);

bool is_short(const model::PoolMinute& minute, std::int32_t reserve_percent);

/// Whether less than the reserve was free in all of the last kMinutesShort minutes before `now`, of which one
/// may be missing: since when, as far as the rows say.
std::optional<WallTime> short_since(const std::vector<model::PoolMinute>& minutes,
                                    std::int32_t reserve_percent, WallTime now);

/// "12.5 of 16 slots of pool etl are in use: 22 % are free, and 30 % should be"
std::string shortage_words(const PoolCapacity& capacity, std::int32_t reserve_percent);

}  // namespace rota::master::core
