// Local times without a zone (what a cron, or the n-th working day, names), and their moments through the
// changes of a zone. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/zone.h"

namespace rota::master::core {

/// A set of local times, in seconds since 1970. Thread: constant after construction.
class LocalTimes {
 public:
  LocalTimes() = default;
  LocalTimes(const LocalTimes&) = default;
  LocalTimes& operator=(const LocalTimes&) = default;
  virtual ~LocalTimes() = default;

  /// The first one at or after `local_s`; empty when there is none before the year 2200.
  virtual std::optional<std::int64_t> next(std::int64_t local_s) const = 0;
  /// How many lie in [from, to).
  virtual std::int64_t count(std::int64_t from, std::int64_t to) const;
  /// P22: local times that do not exist are left out, and those that exist twice count twice.
  virtual bool follows_elapsed_time() const { return false; }
};

/// The stretch of a zone in which a moment lies: an index of its changes.
std::size_t stretch_at(const model::ZoneRules& zone, std::int64_t utc_s);
inline std::int64_t end_of_stretch(const model::ZoneRules& zone, std::size_t i) {
  return i + 1 < zone.changes.size() ? zone.changes[i + 1].from_utc_s
                                     : std::numeric_limits<std::int64_t>::max();
}

/// The day, since 1970, of milliseconds since 1970 in local time.
inline std::int64_t day_number(std::int64_t local_ms) {
  return std::chrono::floor<std::chrono::days>(Millis{local_ms}).count();
}

/// Milliseconds since 1970 in local time.
std::int64_t local_ms_of(const model::ZoneRules& zone, WallTime moment);
/// The first moment at which the zone shows this local time, or the end of what it skips.
WallTime moment_of_local(const model::ZoneRules& zone, std::int64_t local_ms);

/// The first moment strictly after `after` (next_after in cron.h says how zones are passed).
std::optional<WallTime> next_moment(const LocalTimes& times, const model::ZoneRules& zone,
                                    model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after);

/// How many moments lie in (after, through], at most `limit`.
std::int64_t count_moments(const LocalTimes& times, const model::ZoneRules& zone, model::SkippedTime skipped,
                           model::RepeatedTime repeated, WallTime after, WallTime through,
                           std::int64_t limit);

}  // namespace rota::master::core
