#include "master/core/time/day_rules.h"

#include <algorithm>
#include <limits>

#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::Day;
using model::kMillisOfDay;

constexpr std::int64_t kLastDayNumber = Day{std::chrono::year{2199} / 12 / 31}.time_since_epoch().count();

ClockRange overlap(const ClockRange& a, const ClockRange& b) {
  return {std::max(a.from_ms, b.from_ms), std::min(a.to_ms, b.to_ms)};
}

std::vector<ClockRange> overlap(const std::vector<ClockRange>& some,
                                const std::vector<ClockRange>& others) {
  std::vector<ClockRange> out;
  for (const ClockRange& a : some) {
    for (const ClockRange& b : others) {
      if (const ClockRange both = overlap(a, b); !both.is_empty()) out.push_back(both);
    }
  }
  return out;
}

}  // namespace

DayRules::DayRules(const std::vector<CalendarHistory>& calendars, const model::ZoneRules& zone,
                   int day_asked)
    : zone_(&zone), day_asked_(day_asked) {
  for (const CalendarHistory& history : calendars) {
    Parts parts;
    for (const CalendarVersion& version : history) {
      const bool is_first = parts.empty();
      const std::int64_t from =
          is_first ? std::numeric_limits<std::int64_t>::min() : local_ms_of(zone, version.from);
      if (!is_first) switches_.push_back(from);
      parts.push_back({from, version.calendar});
    }
    if (!parts.empty()) used_.push_back(std::move(parts));
  }
  std::ranges::sort(switches_);
  cut_into_stretches();
}

void DayRules::cut_into_stretches() {
  if (switches_.empty()) return;
  for (std::size_t i = 0; i <= switches_.size(); ++i) {
    const std::int64_t from = span_of_stretch(i).first;
    DayRules rules;
    for (const Parts& parts : used_) {
      auto in_force = parts.begin();
      for (auto at = parts.begin(); at != parts.end() && at->from_ms <= from; ++at) in_force = at;
      rules.used_.push_back({Part{std::numeric_limits<std::int64_t>::min(), in_force->calendar}});
    }
    rules.zone_ = zone_;
    rules.day_asked_ = day_asked_;
    stretches_.push_back(std::move(rules));
  }
}

std::pair<std::int64_t, std::int64_t> DayRules::span_of_stretch(std::size_t i) const {
  return {i == 0 ? std::numeric_limits<std::int64_t>::min() : switches_[i - 1],
          i < switches_.size() ? switches_[i] : std::numeric_limits<std::int64_t>::max()};
}

DayRules DayRules::known_at(std::int64_t local_ms) const {
  DayRules out;
  out.zone_ = zone_;
  out.day_asked_ = day_asked_;
  for (const Parts& parts : used_) {
    Parts& known = out.used_.emplace_back();
    for (const Part& part : parts) {
      if (part.from_ms <= local_ms) known.push_back(part);
    }
  }
  for (const std::int64_t at : switches_) {
    if (at <= local_ms) out.switches_.push_back(at);
  }
  out.cut_into_stretches();
  return out;
}

/// During which times of the day this version counts.
ClockRange DayRules::in_force_on(const Parts& parts, std::size_t i, std::int64_t day) {
  const std::int64_t midnight = day * kMillisOfDay;
  const std::int64_t from = i == 0 ? midnight : std::max(parts[i].from_ms, midnight);
  const std::int64_t to = i + 1 < parts.size() ? parts[i + 1].from_ms : midnight + kMillisOfDay;
  return overlap({from - midnight, to - midnight}, {});
}

/// The shorter hours of a day, from the zone of the calendar to the entry's.
ClockRange DayRules::hours_on(const CompiledCalendar& calendar, std::int64_t day) const {
  const std::int64_t asked = day + day_asked_;
  const ClockRange* hours = calendar.hours(Day{std::chrono::days{asked}});
  if (hours == nullptr) return {};
  const bool is_same_zone = &calendar.zone() == zone_ || calendar.zone().name == zone_->name;
  const auto here = [&](std::int64_t clock_ms) {
    const std::int64_t there = asked * kMillisOfDay + clock_ms;
    const std::int64_t local =
        is_same_zone ? there : local_ms_of(*zone_, moment_of_local(calendar.zone(), there));
    return local - day * kMillisOfDay;
  };
  return overlap({here(hours->from_ms), here(hours->to_ms - 1) + 1}, {});
}

std::vector<ClockRange> DayRules::open_by(const Parts& parts, std::int64_t day) const {
  std::vector<ClockRange> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ClockRange in_force = in_force_on(parts, i, day);
    if (in_force.is_empty()) continue;
    const CompiledCalendar& calendar = *parts[i].calendar;
    if (calendar.on(Day{std::chrono::days{day + day_asked_}}) != DayAnswer::Open) continue;
    const ClockRange open = overlap(in_force, hours_on(calendar, day));
    if (open.is_empty()) continue;
    const bool touches = !out.empty() && out.back().to_ms == open.from_ms;
    if (touches) out.back().to_ms = open.to_ms;
    if (!touches) out.push_back(open);
  }
  return out;
}

std::vector<ClockRange> DayRules::open_on(std::int64_t day) const {
  if (used_.empty()) return {ClockRange{}};
  std::vector<ClockRange> open = open_by(used_.front(), day);
  for (std::size_t i = 1; i < used_.size() && !open.empty(); ++i)
    open = overlap(open, open_by(used_[i], day));
  return open;
}

bool DayRules::is_held_on(std::int64_t day) const {
  const Day asked{std::chrono::days{day + day_asked_}};
  return std::ranges::any_of(used_, [&](const Parts& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_held = parts[i].calendar->on(asked) == DayAnswer::Held;
      if (is_held && !in_force_on(parts, i, day).is_empty()) return true;
    }
    return false;
  });
}

std::optional<std::int64_t> DayRules::next_open(std::int64_t day) const {
  while (day <= kLastDayNumber + kLongestShift) {
    std::int64_t furthest = day;
    for (const Parts& parts : used_) {
      std::optional<std::int64_t> first;
      for (const Part& part : parts) {
        const auto open = part.calendar->next_open(Day{std::chrono::days{day + day_asked_}});
        if (!open) continue;
        const std::int64_t here = open->time_since_epoch().count() - day_asked_;
        first = first ? std::min(*first, here) : here;
      }
      if (!first) return std::nullopt;
      furthest = std::max(furthest, *first);
    }
    if (furthest == day) return day;
    day = furthest;
  }
  return std::nullopt;
}

bool DayRules::is_working_day(std::int64_t day, std::int64_t in_force_local_ms) const {
  return std::ranges::all_of(used_, [&](const Parts& parts) {
    auto in_force = parts.begin();
    for (auto at = parts.begin(); at != parts.end() && at->from_ms <= in_force_local_ms; ++at)
      in_force = at;
    return in_force->calendar->on(Day{std::chrono::days{day + day_asked_}}) == DayAnswer::Open;
  });
}

}  // namespace rota::master::core
