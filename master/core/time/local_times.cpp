#include "master/core/time/local_times.h"

#include <algorithm>
#include <chrono>

#include "master/core/time/cron_days.h"

namespace rota::master::core {
namespace {

/// Walks the stretches of a zone in which the offset stays the same.
class ZoneWalk {
 public:
  ZoneWalk(const LocalTimes& times, const model::ZoneRules& zone, model::SkippedTime skipped,
           model::RepeatedTime repeated)
      : times_(times),
        zone_(zone),
        skipped_time_(skipped),
        repeated_time_(repeated),
        follows_elapsed_time_(times.follows_elapsed_time()) {}

  std::optional<std::int64_t> next(std::int64_t utc_s);

 private:
  std::int64_t start_of(std::size_t i) const { return zone_.changes[i].from_utc_s; }
  std::int64_t offset_of(std::size_t i) const { return zone_.changes[i].offset_s; }
  std::int64_t end_of(std::size_t i) const { return end_of_stretch(zone_, i); }
  bool gap_fires_at_start_of(std::size_t i) const;
  std::int64_t end_of_earlier_passage(std::size_t i, std::int64_t local) const;
  std::int64_t end_before_later_passage(std::size_t i, std::int64_t local) const;
  std::optional<std::int64_t> first_in_stretch(std::size_t i, std::int64_t from_utc_s);
  std::size_t next_stretch(std::size_t i) const;

  const LocalTimes& times_;
  const model::ZoneRules& zone_;
  const model::SkippedTime skipped_time_;
  const model::RepeatedTime repeated_time_;
  const bool follows_elapsed_time_;
  bool exhausted_ = false;  ///< no local match is left before the year 2200
  std::int64_t looked_from_ = 0;  ///< there is no local match from here to before `match_`
  std::int64_t match_ = 0;
};

/// Whether a fixed local time fell into the skipped time that ends where stretch `i` begins.
bool ZoneWalk::gap_fires_at_start_of(std::size_t i) const {
  if (i == 0 || follows_elapsed_time_ || skipped_time_ == model::SkippedTime::Skip) return false;
  if (offset_of(i) <= offset_of(i - 1)) return false;
  const auto match = times_.next(start_of(i) + offset_of(i - 1));
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
  looked_from_ = match_ = local;
  for (bool is_first = true;; is_first = false) {
    const auto match = times_.next(local);
    if (!match) {
      // Nothing is left of local time, unless the next change turns it back, or what was passed over here
      // counts when it comes again.
      exhausted_ = is_first && end_of(i) - from_utc_s > kLongestOverlap;
      return std::nullopt;
    }
    if (is_first) match_ = *match;
    if (*match - offset_of(i) >= end_of(i)) return std::nullopt;
    std::int64_t skip_to = 0;
    if (!follows_elapsed_time_) {
      if (repeated_time_ == model::RepeatedTime::First) skip_to = end_of_earlier_passage(i, *match);
      if (repeated_time_ == model::RepeatedTime::Second) skip_to = end_before_later_passage(i, *match);
    }
    if (skip_to == 0) return *match - offset_of(i);
    local = std::max(skip_to, *match + 1);
  }
}

/// The next stretch whose local times may reach the match: years of changes lie before 29 February.
std::size_t ZoneWalk::next_stretch(std::size_t i) const {
  do {
    ++i;
  } while (i + 1 < zone_.changes.size() && end_of(i) + kLongestOverlap < match_ &&
           start_of(i) + offset_of(i) >= looked_from_);
  return i;
}

std::optional<std::int64_t> ZoneWalk::next(std::int64_t utc_s) {
  utc_s = std::max(utc_s, -kLongestOverlap);
  for (std::size_t i = stretch_at(zone_, utc_s); i < zone_.changes.size(); utc_s = start_of(i)) {
    if (utc_s == start_of(i) && gap_fires_at_start_of(i)) return utc_s;
    if (const auto found = first_in_stretch(i, utc_s)) return found;
    if (exhausted_) return std::nullopt;
    i = next_stretch(i);
    if (i >= zone_.changes.size()) return std::nullopt;
  }
  return std::nullopt;
}

/// All that a cron names.
class CronTimes final : public LocalTimes {
 public:
  explicit CronTimes(const CronExpression& cron) : cron_(cron) {}
  std::optional<std::int64_t> next(std::int64_t local_s) const override {
    return next_local_match(cron_, local_s);
  }
  std::int64_t count(std::int64_t from, std::int64_t to) const override {
    return count_local_matches(cron_, from, to);
  }
  bool follows_elapsed_time() const override { return cron_.follows_elapsed_time; }

 private:
  const CronExpression& cron_;
};

std::int64_t whole_second(WallTime moment) {
  return std::chrono::floor<std::chrono::seconds>(moment.time_since_epoch()).count();
}

}  // namespace

std::int64_t LocalTimes::count(std::int64_t from, std::int64_t to) const {
  std::int64_t count = 0;
  for (auto at = next(from); at && *at < to; at = next(*at + 1)) ++count;
  return count;
}

std::size_t stretch_at(const model::ZoneRules& zone, std::int64_t utc_s) {
  const auto after = std::upper_bound(
      zone.changes.begin(), zone.changes.end(), utc_s,
      [](std::int64_t t, const model::ZoneChange& change) { return t < change.from_utc_s; });
  return after == zone.changes.begin() ? 0 : static_cast<std::size_t>(after - zone.changes.begin()) - 1;
}

std::int64_t local_ms_of(const model::ZoneRules& zone, WallTime moment) {
  const std::size_t i = stretch_at(zone, whole_second(moment));
  return to_ms(moment) + std::int64_t{zone.changes[i].offset_s} * 1000;
}

WallTime moment_of_local(const model::ZoneRules& zone, std::int64_t local_ms) {
  const std::int64_t local_s = whole_second(wall_from_ms(local_ms));
  for (std::size_t i = stretch_at(zone, local_s - kLongestOverlap);; ++i) {
    const std::int64_t utc_s = local_s - zone.changes[i].offset_s;
    if (utc_s >= end_of_stretch(zone, i)) continue;
    if (i > 0 && utc_s < zone.changes[i].from_utc_s) return wall_from_ms(zone.changes[i].from_utc_s * 1000);
    return wall_from_ms(local_ms - std::int64_t{zone.changes[i].offset_s} * 1000);
  }
}

std::optional<WallTime> next_moment(const LocalTimes& times, const model::ZoneRules& zone,
                                    model::SkippedTime skipped, model::RepeatedTime repeated,
                                    WallTime after) {
  const auto found = ZoneWalk(times, zone, skipped, repeated).next(whole_second(after) + 1);
  if (!found) return std::nullopt;
  return wall_from_ms(*found * 1000);
}

std::optional<WallTime> next_after(const CronExpression& cron, const model::ZoneRules& zone,
                                   model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after) {
  return next_moment(CronTimes(cron), zone, skipped, repeated, after);
}

std::int64_t count_matches(const CronExpression& cron, const model::ZoneRules& zone,
                           model::SkippedTime skipped, model::RepeatedTime repeated, WallTime after,
                           WallTime through, std::int64_t limit) {
  return count_moments(CronTimes(cron), zone, skipped, repeated, after, through, limit);
}

}  // namespace rota::master::core
