// How many moments of local times lie in a stretch of time.
#include <algorithm>
#include <chrono>
#include <limits>

#include "master/core/time/cron_days.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

std::int64_t second_of(WallTime moment) {
  return std::chrono::floor<std::chrono::seconds>(moment.time_since_epoch()).count();
}

/// A stretch of UTC seconds far enough from every change of the zone that local times and moments
/// correspond one to one.
struct QuietStretch {
  std::int64_t end = 0;  ///< at or before the moment asked for: it is not quiet there
  std::int64_t offset = 0;
};

QuietStretch quiet_from(const model::ZoneRules& zone, std::int64_t utc_s) {
  const auto later = std::upper_bound(
      zone.changes.begin(), zone.changes.end(), utc_s,
      [](std::int64_t t, const model::ZoneChange& change) { return t < change.from_utc_s; });
  const auto own = std::prev(later);
  const bool is_first = own == zone.changes.begin();
  if (!is_first && utc_s - own->from_utc_s < kLongestOverlap) return {utc_s, own->offset_s};
  if (later == zone.changes.end()) {
    return {std::numeric_limits<std::int64_t>::max() - kLongestOverlap, own->offset_s};
  }
  return {later->from_utc_s - kLongestOverlap, own->offset_s};
}

}  // namespace

std::int64_t count_moments(const LocalTimes& times, const model::ZoneRules& zone, model::SkippedTime skipped,
                           model::RepeatedTime repeated, WallTime after, WallTime through,
                           std::int64_t limit) {
  std::int64_t at = second_of(after) + 1;
  const std::int64_t end = second_of(through) + 1;
  std::int64_t count = 0;
  while (at < end && count < limit) {
    const QuietStretch quiet = quiet_from(zone, at);
    if (quiet.end > at) {
      const std::int64_t to = std::min(end, quiet.end);
      count += times.count(at + quiet.offset, to + quiet.offset);
      at = to;
      continue;
    }
    const auto next = next_moment(times, zone, skipped, repeated, wall_from_ms((at - 1) * 1000));
    if (!next || second_of(*next) >= end) break;
    ++count;
    at = second_of(*next) + 1;
  }
  return std::min(count, limit);
}

}  // namespace rota::master::core
