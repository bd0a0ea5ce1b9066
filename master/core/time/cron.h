// Cron expressions: read, checked, and asked for their next moment. Pure.
//
// 5 fields: minute hour day-of-month month day-of-week; 6: with seconds first; 7: and a year last.
// Two dialects. Unix: Sunday is 0 or 7; with both day fields set a day matches when either does,
// but when either is written with a star both must (as cronie). Quartz: Sunday is 1; one of the
// day fields is '?'. Both read lists, ranges (also wrapping: FRI-MON, 22-2), steps, names, and the
// day specials of Quartz 2.5: L, L-3, LW, 15W in day-of-month; 6L, 6#3 in day-of-week.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/zone.h"

namespace rota::master::core {

inline constexpr int kCronFirstYear = 1970;
inline constexpr int kCronLastYear = 2199;

/// A compiled expression. A value; made by parse_cron only.
struct CronExpression {
  struct NthWeekday {
    std::uint8_t weekday = 0;  ///< 0 = Sunday
    std::uint8_t nth = 0;      ///< 1 to 5; 0: the last of the month
  };
  struct FromMonthEnd {
    std::uint8_t offset = 0;       ///< days before the last day
    bool nearest_weekday = false;  ///< LW, L-3W
  };

  std::uint64_t seconds = 1;  ///< bit s
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t month_days = 0;        ///< bit d, 1 to 31
  std::uint16_t months = 0;            ///< bit m, 1 to 12
  std::uint8_t weekdays = 0;           ///< bit w, 0 = Sunday
  std::uint32_t nearest_weekdays = 0;  ///< bit d: dW
  std::vector<FromMonthEnd> month_end;
  std::vector<NthWeekday> nth_weekdays;
  bool both_day_fields = true;        ///< a day must satisfy both fields; else either
  bool follows_elapsed_time = false;  ///< minute or hour is a wildcard (P22)
  bool every_year = true;
  std::bitset<kCronLastYear - kCronFirstYear + 1> years;
  bool quartz = false;  ///< which dialect it was read in
};

/// Reads an expression. InvalidArgument names the field, the column (from 1) and the reason, also
/// for one that can never fire (30 February). `hash`, of a job (cron_hash.h), is what H goes by; without one
/// H is refused.
Result<CronExpression> parse_cron(std::string_view text,
                                  model::CronDialect dialect = model::CronDialect::Guess,
                                  std::optional<std::uint64_t> hash = std::nullopt);

/// The first moment strictly after `after`, before the year 2200. P22: a fixed local time that spring
/// skips fires once, at the end of what is skipped (or not at all); one that autumn repeats at its first
/// passage (or second, or both). When minute or hour is a wildcard the expression follows elapsed time:
/// nothing for local times that do not exist, both passages of those that exist twice.
std::optional<WallTime> next_after(const CronExpression& cron, const model::ZoneRules& zone,
                                   model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after);

/// How many moments lie in (after, through], at most `limit`. By whole days except for the days around
/// a change of the zone, so that years of a cron of every second are counted in some milliseconds.
std::int64_t count_matches(const CronExpression& cron, const model::ZoneRules& zone,
                           model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after,
                           WallTime through, std::int64_t limit);

/// The first local second at or after `local_s` (seconds since 1970 in local time) that matches;
/// empty when there is none before the year 2200. Knows nothing of zones.
std::optional<std::int64_t> next_local_match(const CronExpression& cron, std::int64_t local_s);

}  // namespace rota::master::core
