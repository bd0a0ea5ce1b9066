// The next moment of a cron: first in local time, field by field, then through the zone's changes.
#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "master/core/cron.h"

namespace rota::master::core {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
// Offsets lie within 26 hours of each other, so a local time is repeated only that near a change.
constexpr std::int64_t kLongestOverlap = 26 * 3600;

constexpr std::int64_t local_end_s() {
  using namespace std::chrono;
  return sys_days{year{kCronLastYear + 1} / 1 / 1}.time_since_epoch().count() * kDaySeconds;
}

/// The lowest set bit at or above `from`, or -1.
int next_bit(std::uint64_t bits, int from) {
  if (from > 63) return -1;
  const std::uint64_t rest = bits & (~std::uint64_t{0} << from);
  return rest == 0 ? -1 : std::countr_zero(rest);
}

int days_in_month(int year, int month) {
  using namespace std::chrono;
  const auto last = std::chrono::year{year} / std::chrono::month{unsigned(month)} / std::chrono::last;
  return static_cast<int>(unsigned(year_month_day{last}.day()));
}

/// The weekday of the first of a month, 0 = Sunday.
int weekday_of_first(int year, int month) {
  using namespace std::chrono;
  const sys_days first{std::chrono::year{year} / std::chrono::month{unsigned(month)} / 1};
  return static_cast<int>(weekday{first}.c_encoding());
}

/// Quartz's W: the weekday nearest to `day` that lies in the same month.
int nearest_weekday(int day, int last, int first_weekday) {
  const int weekday = (first_weekday + day - 1) % 7;
  if (weekday == 6) return day == 1 ? day + 2 : day - 1;
  if (weekday == 0) return day == last ? day - 2 : day + 1;
  return day;
}

std::uint32_t days_by_month_day(const CronExpression& cron, int last, int first_weekday) {
  std::uint32_t days = cron.month_days;
  for (int day = next_bit(cron.nearest_weekdays, 1); day > 0 && day <= last;
       day = next_bit(cron.nearest_weekdays, day + 1)) {
    days |= 1u << nearest_weekday(day, last, first_weekday);
  }
  for (const auto& end : cron.month_end) {
    const int day = last - end.offset;
    if (day < 1) continue;
    days |= 1u << (end.nearest_weekday ? nearest_weekday(day, last, first_weekday) : day);
  }
  return days;
}

std::uint32_t days_by_weekday(const CronExpression& cron, int last, int first_weekday) {
  // Bit 0 becomes the weekday of the first; the week is then laid out five times.
  const unsigned week = static_cast<unsigned>(cron.weekdays) & 0x7f;
  const std::uint64_t turned = ((week >> first_weekday) | (week << (7 - first_weekday))) & 0x7f;
  auto days = static_cast<std::uint32_t>((turned | turned << 7 | turned << 14 | turned << 21 |
                                          turned << 28) << 1);
  for (const auto& nth : cron.nth_weekdays) {
    const int first = 1 + (nth.weekday - first_weekday + 7) % 7;
    const int day = nth.nth > 0 ? first + 7 * (nth.nth - 1) : first + 7 * ((last - first) / 7);
    if (day <= last) days |= 1u << day;
  }
  return days;
}

/// Bit d for each day of the month that matches.
std::uint32_t matching_days(const CronExpression& cron, int year, int month) {
  const int last = days_in_month(year, month);
  const int first_weekday = weekday_of_first(year, month);
  const std::uint32_t by_day = days_by_month_day(cron, last, first_weekday);
  const std::uint32_t by_weekday = days_by_weekday(cron, last, first_weekday);
  const auto inside = static_cast<std::uint32_t>((std::uint64_t{2} << last) - 2);
  return (cron.both_day_fields ? by_day & by_weekday : by_day | by_weekday) & inside;
}

bool matches_year(const CronExpression& cron, int year) {
  return cron.every_year || cron.years[static_cast<std::size_t>(year - kCronFirstYear)];
}

struct Date {
  int year = 0;
  int month = 0;
  int day = 0;
};

Date date_of(std::int64_t days_since_epoch) {
  using namespace std::chrono;
  const year_month_day ymd{sys_days{days{days_since_epoch}}};
  return {int(ymd.year()), int(unsigned(ymd.month())), int(unsigned(ymd.day()))};
}

std::int64_t days_since_epoch(const Date& date) {
  using namespace std::chrono;
  return sys_days{year{date.year} / month{unsigned(date.month)} / day{unsigned(date.day)}}
      .time_since_epoch()
      .count();
}

/// The first matching date at or after `date`.
std::optional<Date> next_date(const CronExpression& cron, Date date) {
  while (date.year <= kCronLastYear) {
    const int month = matches_year(cron, date.year) ? next_bit(cron.months, date.month) : -1;
    if (month < 0) {
      date = {date.year + 1, 1, 1};
      continue;
    }
    if (month != date.month) date = {date.year, month, 1};
    const int day = next_bit(matching_days(cron, date.year, date.month), date.day);
    if (day > 0) return Date{date.year, date.month, day};
    date = {date.year, date.month + 1, 1};  // month 13 has no bit: the year ends
  }
  return std::nullopt;
}

int time_of_day(int hour, int minute, int second) { return hour * 3600 + minute * 60 + second; }

/// The first matching second of a day at or after `from`, or -1.
int next_time_of_day(const CronExpression& cron, int from) {
  const int first_minute = next_bit(cron.minutes, 0);
  const int first_second = next_bit(cron.seconds, 0);
  const int hour = next_bit(cron.hours, from / 3600);
  if (hour < 0) return -1;
  if (hour != from / 3600) return time_of_day(hour, first_minute, first_second);
  const int minute = next_bit(cron.minutes, from / 60 % 60);
  if (minute >= 0) {
    if (minute != from / 60 % 60) return time_of_day(hour, minute, first_second);
    const int second = next_bit(cron.seconds, from % 60);
    if (second >= 0) return time_of_day(hour, minute, second);
    const int later = next_bit(cron.minutes, minute + 1);
    if (later >= 0) return time_of_day(hour, later, first_second);
  }
  const int later = next_bit(cron.hours, hour + 1);
  return later < 0 ? -1 : time_of_day(later, first_minute, first_second);
}

/// Walks the stretches of a zone in which the offset stays the same.
class ZoneWalk {
 public:
  ZoneWalk(const CronExpression& cron, const model::ZoneRules& zone, model::GapRule gap,
           model::FoldRule fold)
      : cron_(cron), zone_(zone), gap_(gap), fold_(fold) {}

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
  const model::GapRule gap_;
  const model::FoldRule fold_;
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

/// Whether a fixed local time fell into the gap that ends where stretch `i` begins.
bool ZoneWalk::gap_fires_at_start_of(std::size_t i) const {
  if (i == 0 || cron_.follows_elapsed_time || gap_ == model::GapRule::Skip) return false;
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
      if (fold_ == model::FoldRule::First) skip_to = end_of_earlier_passage(i, *match);
      if (fold_ == model::FoldRule::Second) skip_to = end_before_later_passage(i, *match);
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

std::optional<std::int64_t> next_local_match(const CronExpression& cron, std::int64_t local_s) {
  local_s = std::max<std::int64_t>(local_s, 0);  // 1970 is the first year of a cron
  if (local_s >= local_end_s()) return std::nullopt;
  const std::int64_t day = local_s / kDaySeconds;
  const Date today = date_of(day);
  auto date = next_date(cron, today);
  if (!date) return std::nullopt;
  if (days_since_epoch(*date) == day) {
    const int time = next_time_of_day(cron, static_cast<int>(local_s % kDaySeconds));
    if (time >= 0) return day * kDaySeconds + time;
    date = next_date(cron, date_of(day + 1));
    if (!date) return std::nullopt;
  }
  return days_since_epoch(*date) * kDaySeconds + next_time_of_day(cron, 0);
}

std::optional<WallTime> next_after(const CronExpression& cron, const model::ZoneRules& zone,
                                   model::GapRule gap, model::FoldRule fold, WallTime after) {
  const auto second = std::chrono::floor<std::chrono::seconds>(after.time_since_epoch());
  const auto found = ZoneWalk(cron, zone, gap, fold).next(second.count() + 1);
  if (!found) return std::nullopt;
  return wall_from_ms(*found * 1000);
}

}  // namespace rota::master::core
