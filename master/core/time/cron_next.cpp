// The next moment of a cron, through the changes of a zone.
#include <algorithm>
#include <chrono>
#include <limits>

#include "master/core/time/cron_days.h"

namespace rota::master::core {
namespace {

/// Walks the stretches of a zone in which the offset stays the same.
class ZoneWalk {
 public:
  ZoneWalk(const CronExpression& cron, const model::ZoneRules& zone, model::SkippedTime skipped,
           model::RepeatedTime repeated)
      : cron_(cron), zone_(zone), skipped_time_(skipped), repeated_time_(repeated) {}

  std::optional<std::int64_t> next(std::int64_t utc_s);

 private:
  std::int64_t start_of(std::size_t i) const { return zone_.changes[i].from_utc_s; }
  std::int64_t offset_of(std::size_t i) const { return zone_.changes[i].offset_s; }
  std::int64_t end_of(std::size_t i) const {
    return i + 1 < zone_.changes.size() ? start_of(i + 1)
                                        : std::numeric_limits<std::int64_t>::max();
  }
  std::size_t stretch_at(std::int64_t utc_s) const;
  bool gap_fires_at_start_of(std::size_t i) const;
  std::int64_t end_of_earlier_passage(std::size_t i, std::int64_t local) const;
  std::int64_t end_before_later_passage(std::size_t i, std::int64_t local) const;
  std::optional<std::int64_t> first_in_stretch(std::size_t i, std::int64_t from_utc_s);

  const CronExpression& cron_;
  const model::ZoneRules& zone_;
  const model::SkippedTime skipped_time_;
  const model::RepeatedTime repeated_time_;
  bool exhausted_ = false;  ///< no local match is left before the year 2200
};

std::size_t ZoneWalk::stretch_at(std::int64_t utc_s) const {
  const auto after = std::upper_bound(
      zone_.changes.begin(), zone_.changes.end(), utc_s,
      [](std::int64_t t, const model::ZoneChange& change) { return t < change.from_utc_s; });
  return after == zone_.changes.begin()
             ? 0
             : static_cast<std::size_t>(after - zone_.changes.begin()) - 1;
}

/// Whether a fixed local time fell into the skipped time that ends where stretch `i` begins.
bool ZoneWalk::gap_fires_at_start_of(std::size_t i) const {
  if (i == 0 || cron_.follows_elapsed_time || skipped_time_ == model::SkippedTime::Skip) return false;
  if (offset_of(i) <= offset_of(i - 1)) return false;
  const auto match = next_local_match(cron_, start_of(i) + offset_of(i - 1));
  return match && *match < start_of(i) + offset_of(i);
}

/// When `local` also occurred in an earlier stretch: the local time at which that overlap ends.
/// Else 0.
std::int64_t ZoneWalk::end_of_earlier_passage(std::size_t i, std::int64_t local) const {
  const std::int64_t utc = local - offset_of(i);
  for (std::size_t j = i; j > 0 && utc - start_of(j) <= kLongestOverlap; --j) {
    const std::int64_t before = local - offset_of(j - 1);
    if (before < end_of(j - 1) && before >= start_of(j - 1)) {
      return end_of(j - 1) + offset_of(j - 1);
    }
  }
  return 0;
}

/// When `local` occurs again in a later stretch: the local time at which stretch `i` leaves the
/// overlap. Else 0.
std::int64_t ZoneWalk::end_before_later_passage(std::size_t i, std::int64_t local) const {
  const std::int64_t utc = local - offset_of(i);
  for (std::size_t j = i + 1; j < zone_.changes.size() && start_of(j) - utc <= kLongestOverlap;
       ++j) {
    const std::int64_t again = local - offset_of(j);
    if (again >= start_of(j) && again < end_of(j)) {
      const std::int64_t leaves = end_of(i) + offset_of(i);
      return j + 1 < zone_.changes.size() ? std::min(leaves, end_of(j) + offset_of(j)) : leaves;
    }
  }
  return 0;
}

std::optional<std::int64_t> ZoneWalk::first_in_stretch(std::size_t i, std::int64_t from_utc_s) {
  std::int64_t local = from_utc_s + offset_of(i);
  for (;;) {
    const auto match = next_local_match(cron_, local);
    if (!match) {
      // Nothing is left of local time, unless the next change turns it back.
      exhausted_ = end_of(i) - from_utc_s > kLongestOverlap;
      return std::nullopt;
    }
    if (*match - offset_of(i) >= end_of(i)) return std::nullopt;
    std::int64_t skip_to = 0;
    if (!cron_.follows_elapsed_time) {
      if (repeated_time_ == model::RepeatedTime::First) skip_to = end_of_earlier_passage(i, *match);
      if (repeated_time_ == model::RepeatedTime::Second) skip_to = end_before_later_passage(i, *match);
    }
    if (skip_to == 0) return *match - offset_of(i);
    local = std::max(skip_to, *match + 1);
  }
}

std::optional<std::int64_t> ZoneWalk::next(std::int64_t utc_s) {
  utc_s = std::max(utc_s, -kLongestOverlap);
  for (std::size_t i = stretch_at(utc_s); i < zone_.changes.size(); ++i) {
    if (utc_s == start_of(i) && gap_fires_at_start_of(i)) return utc_s;
    if (const auto found = first_in_stretch(i, utc_s)) return found;
    if (exhausted_) return std::nullopt;
    utc_s = end_of(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<WallTime> next_after(const CronExpression& cron, const model::ZoneRules& zone,
                                   model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after) {
  const auto second = std::chrono::floor<std::chrono::seconds>(after.time_since_epoch());
  const auto found = ZoneWalk(cron, zone, skipped, repeated).next(second.count() + 1);
  if (!found) return std::nullopt;
  return wall_from_ms(*found * 1000);
}

}  // namespace rota::master::core
