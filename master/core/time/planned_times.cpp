#include "master/core/time/planned_times.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "master/core/time/cron_days.h"

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::kMillisOfDay;
using model::Otherwise;

constexpr int kLastYear = kCronLastYear;

std::int64_t floor_day(std::int64_t value, std::int64_t a_day) {
  return value >= 0 ? value / a_day : -((-value + a_day - 1) / a_day);
}

/// The first matching second of the day in these times, at or after `from_s`.
std::optional<int> first_time(const CronExpression& cron, const ClockRange& times, std::int64_t from_s) {
  const std::int64_t from = std::max((times.from_ms + 999) / 1000, from_s);
  if (from >= kDaySeconds) return std::nullopt;
  const int time = next_time_of_day(cron, static_cast<int>(from));
  if (time < 0 || time * std::int64_t{1000} >= times.to_ms) return std::nullopt;
  return time;
}

std::int64_t count_times(const CronExpression& cron, std::int64_t from_ms, std::int64_t to_ms) {
  const auto before = [&](std::int64_t ms) {
    return count_times_before(cron, static_cast<int>((ms + 999) / 1000));
  };
  return from_ms < to_ms ? before(to_ms) - before(from_ms) : 0;
}

std::vector<ClockRange> without(const std::vector<ClockRange>& ranges, const ClockRange& taken) {
  std::vector<ClockRange> out;
  for (const ClockRange& each : ranges) {
    const ClockRange before{each.from_ms, std::min(each.to_ms, taken.from_ms)};
    const ClockRange behind{std::max(each.from_ms, taken.to_ms), each.to_ms};
    if (!before.is_empty()) out.push_back(before);
    if (!behind.is_empty()) out.push_back(behind);
  }
  return out;
}

/// Through all versions at once.
std::optional<std::int64_t> first_open(std::int64_t local_ms, const DayRules& days, Otherwise otherwise) {
  std::int64_t day = floor_day(local_ms, kMillisOfDay);
  const std::int64_t clock = local_ms - day * kMillisOfDay;
  for (int shifted = 0; shifted <= kLongestShift; ++shifted) {
    for (const ClockRange& open : days.open_on(day)) {
      if (open.has(clock)) return day * kMillisOfDay + clock;
    }
    if (otherwise == Otherwise::Skip || days.is_held_on(day)) return std::nullopt;
    day += otherwise == Otherwise::Next ? 1 : -1;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ClockRange> ranges_of_day(const ClockRange& between) {
  if (!between.is_empty()) return {between};
  return {{0, between.to_ms}, {between.from_ms, kMillisOfDay}};
}

/// What is open there stays; the rest goes one day further.
void CalendarTimes::place(const DayRules& days, std::int64_t day, const ClockRange& times, int shifted,
                          std::vector<Placed>& out) const {
  std::int64_t rest = times.from_ms;
  const bool may_move = otherwise_ != Otherwise::Skip && shifted < kLongestShift && !days.is_held_on(day);
  const auto move = [&](std::int64_t to) {
    if (rest >= to || !may_move) return;
    place(days, day + (otherwise_ == Otherwise::Next ? 1 : -1), {rest, to}, shifted + 1, out);
  };
  for (const ClockRange& open : days.open_on(day)) {
    const ClockRange inside{std::max(open.from_ms, times.from_ms), std::min(open.to_ms, times.to_ms)};
    if (inside.is_empty()) continue;
    move(inside.from_ms);
    out.push_back({day, inside});
    rest = inside.to_ms;
  }
  move(times.to_ms);
}

/// What is moved back comes before its own day, and so perhaps before an edit that changes that day. The
/// first version by which it falls into the time in which that version is in force places it, no later one.
std::vector<CalendarTimes::Placed> CalendarTimes::placed_before(std::int64_t source) const {
  std::vector<Placed> out;
  std::vector<ClockRange> left = between_;
  for (std::size_t i = 0; i < days_.stretches().size(); ++i) {
    const auto [from, to] = days_.span_of_stretch(i);
    std::vector<Placed> placed;
    for (const ClockRange& times : left) place(days_.stretches()[i], source, times, 0, placed);
    for (const Placed& each : placed) {
      const std::int64_t midnight = each.day * kMillisOfDay;
      ClockRange inside = each.times;
      if (from > midnight) inside.from_ms = std::max(inside.from_ms, from - midnight);
      if (to < midnight + kMillisOfDay) inside.to_ms = std::min(inside.to_ms, to - midnight);
      if (inside.is_empty()) continue;
      out.push_back({each.day, inside});
      left = without(left, inside);
    }
  }
  return out;
}

std::vector<CalendarTimes::Placed> CalendarTimes::placed_from(std::int64_t source) const {
  if (otherwise_ == Otherwise::Previous && !days_.stretches().empty()) return placed_before(source);
  std::vector<Placed> out;
  for (const ClockRange& times : between_) place(days_, source, times, 0, out);
  return out;
}

/// Whether a time of the cron lies in this part of a day.
bool CalendarTimes::has_times(const ClockRange& open) const {
  return std::ranges::any_of(between_, [&](const ClockRange& allowed) {
    const ClockRange inside{std::max(open.from_ms, allowed.from_ms), std::min(open.to_ms, allowed.to_ms)};
    return !inside.is_empty() && first_time(cron_, inside, 0).has_value();
  });
}

/// The first day of the cron at or after that one from which it is not too far to an open day.
std::optional<std::int64_t> CalendarTimes::next_source(std::int64_t day) const {
  return next_cron_day(cron_, day, days_.last_open() + ahead(), [this](std::int64_t first) {
    std::uint64_t near = days_.open_days(first - ahead());
    if (otherwise_ == Otherwise::Skip) return near;
    static_assert(kLongestShift == 15);  // bit i: one of the days i to i + 15
    for (const int far : {1, 2, 4, 8}) near |= near >> far;
    return near;
  });
}

std::optional<std::int64_t> CalendarTimes::next(std::int64_t local_s) const {
  const std::int64_t today = floor_day(local_s, kDaySeconds);
  if (!days_.next_open(today) || !has_times(ClockRange{})) return std::nullopt;
  std::optional<std::int64_t> best;
  for (auto source = next_source(today - back()); source;) {
    if (best && *source > floor_day(*best, kDaySeconds) + ahead()) break;
    ++days_tried_;
    for (const Placed& placed : placed_from(*source)) {
      const auto time = first_time(cron_, placed.times, local_s - placed.day * kDaySeconds);
      if (!time) continue;
      const std::int64_t found = placed.day * kDaySeconds + *time;
      best = best ? std::min(*best, found) : found;
    }
    // Long closed stretches are passed in one step: what is moved comes from
    // near them.
    const auto open = days_.next_open_for(*source + 1 - ahead(),
                                          [this](const ClockRange& times) { return has_times(times); });
    if (!open) break;
    source = next_source(std::max(*source + 1, *open - back()));
  }
  return best;
}

/// How many are planned on a day before that second of it.
std::int64_t CalendarTimes::count_on(std::int64_t day, std::int64_t before_s) const {
  std::vector<ClockRange> times;
  for (auto source = next_cron_day(cron_, day - back()); source && *source <= day + ahead();
       source = next_cron_day(cron_, *source + 1)) {
    for (const Placed& placed : placed_from(*source)) {
      if (placed.day == day) times.push_back(placed.times);
    }
  }
  std::ranges::sort(times, {}, &ClockRange::from_ms);
  std::int64_t count = 0;
  std::int64_t counted = 0;  // through here
  for (const ClockRange& range : times) {
    const std::int64_t to = std::min(range.to_ms, before_s * 1000);
    count += count_times(cron_, std::max(range.from_ms, counted), to);
    counted = std::max(counted, to);
  }
  return count;
}

std::int64_t CalendarTimes::count(std::int64_t from, std::int64_t to) const {
  std::int64_t count = 0;
  for (auto at = next(from); at && *at < to;) {
    const std::int64_t day = floor_day(*at, kDaySeconds);
    const std::int64_t end = std::min(to - day * kDaySeconds, kDaySeconds);
    count += count_on(day, end) - count_on(day, *at - day * kDaySeconds);
    at = next((day + 1) * kDaySeconds);
  }
  return count;
}

/// The day of the month by the versions in force at that local time.
std::optional<std::int64_t> WorkingDayTimes::day_in_month(std::int64_t first, std::int64_t last,
                                                          std::int64_t in_force) const {
  std::uint64_t open = days_.working_days(first, in_force) & ((std::uint64_t{2} << (last - first)) - 1);
  const int count = std::popcount(open);
  const int index = nth_ > 0 ? nth_ - 1 : count + nth_;
  if (index < 0 || index >= count) return std::nullopt;
  for (int i = 0; i < index; ++i) open &= open - 1;
  return first + std::countr_zero(open);
}

/// Once in a month: by the first version by which its day falls into the time
/// in which it is in force.
std::optional<std::int64_t> WorkingDayTimes::in_month(std::int64_t first, std::int64_t last) const {
  const auto& switches = days_.switches();
  for (std::size_t i = 0; i <= switches.size(); ++i) {
    const std::int64_t from = i == 0 ? INT64_MIN : switches[i - 1];
    const std::int64_t to = i < switches.size() ? switches[i] : INT64_MAX;
    if (from >= (last + 1) * kMillisOfDay || to <= first * kMillisOfDay) continue;
    const auto day = day_in_month(first, last, from);
    const std::int64_t planned = day.value_or(0) * kMillisOfDay + clock_ms_;
    if (day && planned >= from && planned < to) return planned / 1000;
  }
  return std::nullopt;
}

std::optional<std::int64_t> WorkingDayTimes::next(std::int64_t local_s) const {
  using namespace std::chrono;
  const auto number = [](const sys_days& day) { return std::int64_t{day.time_since_epoch().count()}; };
  const year_month_day date{sys_days{days{floor_day(std::max<std::int64_t>(local_s, 0), kDaySeconds)}}};
  for (year_month month{date.year(), date.month()}; int(month.year()) <= kLastYear;) {
    const std::int64_t first = number(sys_days{month / 1});
    const std::int64_t last = number(sys_days{month / std::chrono::last});
    const auto found = in_month(first, last);
    if (found && *found >= local_s) return found;
    const auto open = days_.next_open(last + 1);  // whole closed months are passed in one step
    if (!open) return std::nullopt;
    const year_month_day there{sys_days{days{*open}}};
    month = year_month{there.year(), there.month()};
  }
  return std::nullopt;
}

/// Moved back: as CalendarTimes::placed_before.
std::optional<std::int64_t> moved_to_open(std::int64_t local_ms, const DayRules& days,
                                          Otherwise otherwise) {
  if (otherwise != Otherwise::Previous || days.stretches().empty()) {
    return first_open(local_ms, days, otherwise);
  }
  for (std::size_t i = 0; i < days.stretches().size(); ++i) {
    const auto [from, to] = days.span_of_stretch(i);
    const auto found = first_open(local_ms, days.stretches()[i], otherwise);
    if (found && *found >= from && *found < to) return found;
  }
  return std::nullopt;
}

}  // namespace rota::master::core
