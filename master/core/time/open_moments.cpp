#include "master/core/time/open_moments.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>

#include "master/core/time/cron_days.h"
#include "master/core/time/cron_quartz.h"
#include "master/core/time/local_times.h"
#include "master/core/time/planned_times.h"

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::kMillisOfDay;

/// From 0 on, also for what is negative.
std::int64_t rest_of(std::int64_t value, std::int64_t divisor) {
  return (value % divisor + divisor) % divisor;
}

/// The first tick at or after `at`.
WallTime first_tick(WallTime tick, Millis interval, WallTime at) {
  return at <= tick ? tick : tick + ((at - tick - Millis{1}) / interval + 1) * interval;
}

}  // namespace

OpenMoments::Stretch OpenMoments::stretch_of(WallTime at) const {
  const auto second = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
  const std::size_t i = stretch_at(zone_, second);
  Stretch out{std::nullopt, zone_.changes[i].offset_s * std::int64_t{1000}};
  if (i + 1 < zone_.changes.size()) out.end = wall_from_ms(end_of_stretch(zone_, i) * 1000);
  return out;
}

/// The first local time that is open and in `between`.
std::optional<std::int64_t> OpenMoments::next_local(std::int64_t local_ms,
                                                    const DayRules::IsWanted& is_wanted) const {
  auto day = days_.next_open_for(day_number(local_ms), is_wanted);
  for (; day; day = days_.next_open_for(*day + 1, is_wanted)) {
    ++times_tried_;
    const ClockRange rest{local_ms - *day * kMillisOfDay, kMillisOfDay};
    std::optional<std::int64_t> first;
    for (const ClockRange& open : days_.open_on(*day)) {
      for (const ClockRange& allowed : between_) {
        const ClockRange here = overlap(overlap(open, allowed), rest);
        if (!here.is_empty()) first = std::min(first.value_or(here.from_ms), here.from_ms);
      }
    }
    if (first) return *day * kMillisOfDay + *first;
  }
  return std::nullopt;
}

/// Within a stretch of the zone local time runs evenly.
std::optional<WallTime> OpenMoments::next(WallTime at) const {
  const auto is_wanted = [this](const ClockRange& open) {
    return std::ranges::any_of(
        between_, [&](const ClockRange& allowed) { return !overlap(open, allowed).is_empty(); });
  };
  while (true) {
    const Stretch stretch = stretch_of(at);
    const auto open = next_local(stretch.local(at), is_wanted);
    if (!open) return std::nullopt;
    const WallTime there = at + Millis{*open - stretch.local(at)};
    if (!stretch.end || there < *stretch.end) return there;
    at = *stretch.end;
  }
}

/// Of a rate of whole days: to the first tick that is on an open day, or lies many days later.
WallTime OpenMoments::pass_closed_days(WallTime tick, Millis interval, const Stretch& stretch) const {
  constexpr std::int64_t kSeen = 64;
  const std::int64_t step = interval.count() / kMillisOfDay;
  std::uint64_t ticks = 0;
  for (std::int64_t day = 0; day < kSeen; day += step) ticks |= std::uint64_t{1} << day;
  const std::uint64_t open = days_.open_days(day_number(stretch.local(tick))) & ticks;
  return tick + std::chrono::days{open != 0 ? std::countr_zero(open) : (kSeen + step - 1) / step * step};
}

std::optional<WallTime> OpenMoments::rate_in_stretch(WallTime tick, Millis interval,
                                                     const Stretch& stretch) const {
  // In one stretch the ticks have these times of the day only, a part of a day apart.
  const std::int64_t apart = std::gcd(interval.count(), kMillisOfDay);
  const std::int64_t rest = rest_of(stretch.local(tick), apart);
  const DayRules::IsWanted is_wanted = [&](const ClockRange& open) {
    return std::ranges::any_of(between_, [&](const ClockRange& allowed) {
      const ClockRange both = overlap(open, allowed);
      return both.from_ms + rest_of(rest - both.from_ms, apart) < both.to_ms;
    });
  };
  if (!is_wanted(ClockRange{})) return std::nullopt;
  const bool is_daily = interval.count() % kMillisOfDay == 0;
  while (!stretch.end || tick < *stretch.end) {
    ++times_tried_;
    if (is_daily) {
      const WallTime there = pass_closed_days(tick, interval, stretch);
      const bool is_closed = (days_.open_days(day_number(stretch.local(there))) & 1) == 0;
      if (is_closed && day_number(stretch.local(there)) > days_.last_open()) return std::nullopt;
      tick = there;
      if (is_closed || (stretch.end && tick >= *stretch.end)) continue;
    }
    const auto open = next_local(stretch.local(tick), is_wanted);
    if (!open) return std::nullopt;
    if (*open == stretch.local(tick)) return tick;
    tick = first_tick(tick, interval, tick + Millis{*open - stretch.local(tick)});
  }
  return std::nullopt;
}

std::optional<WallTime> OpenMoments::next_of_rate(WallTime tick, Millis interval) const {
  while (true) {
    const Stretch stretch = stretch_of(tick);
    if (!days_.next_open(day_number(stretch.local(tick)))) return std::nullopt;
    if (const auto found = rate_in_stretch(tick, interval, stretch)) return found;
    if (!stretch.end) return std::nullopt;
    tick = first_tick(tick, interval, *stretch.end);
  }
}

/// The end of the stretch from `at` on in which the moments of a cron are those that it names by local time,
/// whatever reads it: they differ near changes of the zone.
WallTime OpenMoments::even_until(WallTime at) const {
  constexpr std::chrono::seconds kNear{kLongestOverlap};
  const auto change = stretch_of(at - kNear).end;
  return change ? *change - kNear : WallTime::max();
}

std::optional<WallTime> OpenMoments::next_as_quartz(const CronExpression& cron, WallTime after) const {
  const CalendarTimes times(cron, days_, model::Otherwise::Skip, between_);
  const auto planned_from = [&](WallTime at) {
    const auto local = times.next((stretch_of(at).local(at) + 999) / 1000);
    return local ? moment_of_local(zone_, *local * 1000) : WallTime::max();
  };
  WallTime planned = WallTime::min();
  while (const auto moment = core::next_as_quartz(cron, zone_, after)) {
    ++times_tried_;
    const auto open = next(*moment);
    if (!open || *open == *moment) return open;
    if (planned < *open) planned = planned_from(*open);
    const WallTime there = std::max(*open, std::min(planned, even_until(*open)));
    if (there == WallTime::max()) return std::nullopt;
    after = there - Millis{1};
  }
  return std::nullopt;
}

}  // namespace rota::master::core
