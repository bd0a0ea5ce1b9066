#include "master/core/time/cron_days.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace rota::master::core {
namespace {

/// The local second at which the year 2200 begins.
constexpr std::int64_t kLocalEnd =
    std::chrono::sys_days{std::chrono::year{kCronLastYear + 1} / 1 / 1}.time_since_epoch().count() *
    kDaySeconds;

/// The lowest set bit at or above `from`, or -1.
int next_bit(std::uint64_t bits, int from) {
  if (from > 63) return -1;
  const std::uint64_t rest = bits & (~std::uint64_t{0} << from);
  return rest == 0 ? -1 : std::countr_zero(rest);
}

int days_in_month(int year, int month) {
  using namespace std::chrono;
  const auto last =
      std::chrono::year{year} / std::chrono::month{unsigned(month)} / std::chrono::last;
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
  auto days = static_cast<std::uint32_t>(
      (turned | turned << 7 | turned << 14 | turned << 21 | turned << 28) << 1);
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
  if (year > kCronLastYear) return false;
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

/// The first matching date at or after `date`, through that year. `counts` says which days of a month do: bit
/// d, 1 to 31.
template <typename Counts>
std::optional<Date> next_date(const CronExpression& cron, Date date, int last_year, const Counts& counts) {
  while (date.year <= last_year) {
    const int month = matches_year(cron, date.year) ? next_bit(cron.months, date.month) : -1;
    if (month < 0) {
      date = {date.year + 1, 1, 1};
      continue;
    }
    if (month != date.month) date = {date.year, month, 1};
    const std::uint32_t days = matching_days(cron, date.year, date.month);
    const int day = days == 0 ? -1 : next_bit(days & counts(date.year, date.month), date.day);
    if (day > 0) return Date{date.year, date.month, day};
    date = {date.year, date.month + 1, 1};  // month 13 has no bit: the year ends
  }
  return std::nullopt;
}

std::optional<Date> next_date(const CronExpression& cron, Date date) {
  return next_date(cron, date, kCronLastYear, [](int, int) { return ~std::uint32_t{0}; });
}

int time_of_day(int hour, int minute, int second) { return hour * 3600 + minute * 60 + second; }

/// How many matching dates lie in [from, to), both days since 1970.
std::int64_t count_dates(const CronExpression& cron, std::int64_t from, std::int64_t to) {
  const Date first = date_of(from);
  const Date end = date_of(to);
  std::int64_t count = 0;
  for (Date date{first.year, first.month, 1};
       date.year < end.year || (date.year == end.year && date.month <= end.month);) {
    if (matches_year(cron, date.year) && (cron.months >> date.month & 1) != 0) {
      std::uint32_t days = matching_days(cron, date.year, date.month);
      const bool is_first = date.year == first.year && date.month == first.month;
      const bool is_last = date.year == end.year && date.month == end.month;
      if (is_first) days &= ~std::uint32_t{0} << first.day;
      if (is_last) days &= (std::uint32_t{1} << end.day) - 1;
      count += std::popcount(days);
    }
    date = date.month == 12 ? Date{date.year + 1, 1, 1} : Date{date.year, date.month + 1, 1};
  }
  return count;
}

/// How many matching seconds a day has.
std::int64_t a_day(const CronExpression& cron) {
  return std::int64_t{std::popcount(cron.seconds)} * std::popcount(cron.minutes) * std::popcount(cron.hours);
}

/// How many of the bits 0 to `below` - 1 are set.
std::int64_t bits_below(std::uint64_t bits, int below) {
  return std::popcount(bits & ((std::uint64_t{1} << below) - 1));
}

}  // namespace

std::int64_t count_times_before(const CronExpression& cron, int second) {
  if (second >= kDaySeconds) return a_day(cron);
  const int hour = second / 3600;
  const int minute = second / 60 % 60;
  const std::int64_t a_minute = std::popcount(cron.seconds);
  const std::int64_t an_hour = a_minute * std::popcount(cron.minutes);
  std::int64_t count = an_hour * bits_below(cron.hours, hour);
  if ((cron.hours >> hour & 1) == 0) return count;
  count += a_minute * bits_below(cron.minutes, minute);
  if ((cron.minutes >> minute & 1) == 0) return count;
  return count + bits_below(cron.seconds, second % 60);
}

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

std::int64_t count_local_matches(const CronExpression& cron, std::int64_t from, std::int64_t to) {
  from = std::clamp<std::int64_t>(from, 0, kLocalEnd);
  to = std::clamp<std::int64_t>(to, 0, kLocalEnd);
  if (from >= to) return 0;
  const std::int64_t first = from / kDaySeconds;
  const std::int64_t last = to / kDaySeconds;
  std::int64_t count = a_day(cron) * count_dates(cron, first, last);
  if (count_dates(cron, first, first + 1) != 0) {
    count -= count_times_before(cron, static_cast<int>(from % kDaySeconds));
  }
  if (to < kLocalEnd && count_dates(cron, last, last + 1) != 0) {
    count += count_times_before(cron, static_cast<int>(to % kDaySeconds));
  }
  return count;
}

std::optional<std::int64_t> next_cron_day(const CronExpression& cron, std::int64_t day) {
  if (day * kDaySeconds >= kLocalEnd) return std::nullopt;
  const auto date = next_date(cron, date_of(std::max<std::int64_t>(day, 0)));
  if (!date) return std::nullopt;
  return days_since_epoch(*date);
}

std::optional<std::int64_t> next_cron_day(const CronExpression& cron, std::int64_t day, std::int64_t through,
                                          const DayFilter& counts) {
  day = std::max<std::int64_t>(day, 0);
  if (day > through || day * kDaySeconds >= kLocalEnd) return std::nullopt;
  const int last_year = std::min(kCronLastYear, date_of(std::min(through, kLocalEnd / kDaySeconds)).year);
  const auto date = next_date(cron, date_of(day), last_year, [&](int year, int month) {
    return static_cast<std::uint32_t>(counts(days_since_epoch({year, month, 1})) << 1);
  });
  if (!date || days_since_epoch(*date) > through) return std::nullopt;
  return days_since_epoch(*date);
}

std::optional<std::int64_t> next_local_match(const CronExpression& cron, std::int64_t local_s) {
  local_s = std::max<std::int64_t>(local_s, 0);  // 1970 is the first year of a cron
  if (local_s >= kLocalEnd) return std::nullopt;
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

}  // namespace rota::master::core
