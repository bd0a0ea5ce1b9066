#include "master/core/time/day_rules.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "master/core/time/local_times.h"
#include "master/core/time/zone_hours.h"

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::Day;
using model::kMillisOfDay;

constexpr std::int64_t kBeginning = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaskDays = 64;

/// Of the 64 days from `first` on those in [from, to].
std::uint64_t mask_of(std::int64_t first, std::int64_t from, std::int64_t to) {
  if (to < first || from >= first + kMaskDays) return 0;
  const std::int64_t low = from <= first ? 0 : from - first;
  const std::int64_t high = to >= first + kMaskDays ? kMaskDays - 1 : to - first;
  return low > high ? 0 : (~std::uint64_t{0} << low) & (~std::uint64_t{0} >> (kMaskDays - 1 - high));
}

/// The last day from `day` on whose hours lie before the next change of the zone, in whatever zone they are.
std::int64_t same_offset_through(const model::ZoneRules& zone, std::int64_t day) {
  const std::int64_t end_s = end_of_stretch(zone, stretch_at(zone, (day - 2) * kMillisOfDay / 1000));
  if (end_s == kNoEnd) return kNoEnd;
  return day_number(end_s * 1000) - 3;
}

std::vector<ClockRange> overlaps(const std::vector<ClockRange>& some,
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
          is_first ? kBeginning : local_ms_of(zone, version.from);
      if (!is_first) switches_.push_back(from);
      parts.push_back({from, version.calendar});
      if (version.calendar->has_hours()) has_hours_ = true;
    }
    if (parts.empty()) continue;
    tell_days(parts);
    used_.push_back(std::move(parts));
  }
  std::ranges::sort(switches_);
  find_last_open();
  cut_into_stretches();
}

void DayRules::tell_days(Parts& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) parts[i].first_day = day_number(parts[i].from_ms);
    parts[i].last_day = i + 1 < parts.size() ? day_number(parts[i + 1].from_ms - 1) : kNoEnd;
  }
}

/// No day after it is open in this calendar.
std::int64_t DayRules::last_of(const Parts& parts) const {
  std::int64_t out = kBeginning;
  for (const Part& part : parts) {
    const auto last = part.calendar->open().last();
    if (last) out = std::max(out, std::min(*last - day_asked_, part.last_day));
  }
  return out;
}

/// The last day that all calendars open.
void DayRules::find_last_open() {
  if (used_.empty()) return;
  for (const Parts& parts : used_) last_open_ = std::min(last_open_, last_of(parts));
  while (last_open_ >= 0) {
    const std::int64_t first = last_open_ - (kMaskDays - 1);
    if (const std::uint64_t open = open_days(first); open != 0) {
      last_open_ -= std::countl_zero(open);
      return;
    }
    last_open_ = first - 1;
  }
}

void DayRules::cut_into_stretches() {
  if (switches_.empty()) return;
  for (std::size_t i = 0; i <= switches_.size(); ++i) {
    const std::int64_t from = span_of_stretch(i).first;
    DayRules rules;
    for (const Parts& parts : used_) {
      rules.used_.push_back({Part{kBeginning, part_in_force(parts, from).calendar}});
    }
    rules.zone_ = zone_;
    rules.day_asked_ = day_asked_;
    rules.has_hours_ = has_hours_;
    stretches_.push_back(std::move(rules));
  }
}

std::pair<std::int64_t, std::int64_t> DayRules::span_of_stretch(std::size_t i) const {
  return {i == 0 ? kBeginning : switches_[i - 1], i < switches_.size() ? switches_[i] : kNoEnd};
}

DayRules DayRules::known_at(std::int64_t local_ms) const {
  DayRules out;
  out.zone_ = zone_;
  out.day_asked_ = day_asked_;
  out.has_hours_ = has_hours_;
  for (const Parts& parts : used_) {
    Parts& known = out.used_.emplace_back();
    for (const Part& part : parts) {
      if (part.from_ms <= local_ms) known.push_back(part);
    }
    tell_days(known);
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
std::vector<ClockRange> DayRules::hours_on(const CompiledCalendar& calendar, std::int64_t day) const {
  const std::int64_t asked = day + day_asked_;
  const ClockRange* hours = calendar.hours(Day{std::chrono::days{asked}});
  if (hours == nullptr) return {ClockRange{}};
  const bool is_same_zone = &calendar.zone() == zone_ || calendar.zone().name == zone_->name;
  const LocalSpan there{asked * kMillisOfDay + hours->from_ms, asked * kMillisOfDay + hours->to_ms};
  const auto spans = is_same_zone ? std::vector{there} : told_in_zone(calendar.zone(), there, *zone_);
  std::vector<ClockRange> out;
  for (const LocalSpan& here : spans) {
    const std::int64_t midnight = day * kMillisOfDay;
    const ClockRange open = overlap({here.from_ms - midnight, here.to_ms - midnight}, {});
    if (!open.is_empty()) out.push_back(open);
  }
  return out;
}

std::vector<ClockRange> DayRules::open_by(const Parts& parts, std::int64_t day) const {
  std::vector<ClockRange> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ClockRange in_force = in_force_on(parts, i, day);
    if (in_force.is_empty()) continue;
    const CompiledCalendar& calendar = *parts[i].calendar;
    if (calendar.on(Day{std::chrono::days{day + day_asked_}}) != DayAnswer::Open) continue;
    for (const ClockRange& hours : hours_on(calendar, day)) {
      const ClockRange open = overlap(in_force, hours);
      if (open.is_empty()) continue;
      const bool touches = !out.empty() && out.back().to_ms == open.from_ms;
      if (touches) out.back().to_ms = open.to_ms;
      if (!touches) out.push_back(open);
    }
  }
  return out;
}

std::vector<ClockRange> DayRules::open_on(std::int64_t day) const {
  if (used_.empty()) return {ClockRange{}};
  std::vector<ClockRange> open = open_by(used_.front(), day);
  for (std::size_t i = 1; i < used_.size() && !open.empty(); ++i)
    open = overlaps(open, open_by(used_[i], day));
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

std::uint64_t DayRules::open_days(std::int64_t first) const {
  std::uint64_t out = ~std::uint64_t{0};
  for (const Parts& parts : used_) {
    std::uint64_t open = 0;
    for (const Part& part : parts) {
      const std::uint64_t mask = mask_of(first, part.first_day, part.last_day);
      if (mask != 0) open |= part.calendar->open().from(first + day_asked_) & mask;
    }
    out &= open;
  }
  return out;
}

std::optional<std::int64_t> DayRules::next_open(std::int64_t day) const {
  for (; day <= last_open_; day += kMaskDays) {
    if (const std::uint64_t open = open_days(day); open != 0) return day + std::countr_zero(open);
  }
  return std::nullopt;
}

/// The last day from that one on through which what is open of an open day does not change, whatever the
/// calendars say of the days themselves.
std::int64_t DayRules::same_open_through(std::int64_t day) const {
  std::int64_t out = kNoEnd;
  for (const Parts& parts : used_) {
    for (const Part& part : parts) {
      if (part.last_day < day || part.first_day > day) {
        if (part.first_day > day) out = std::min(out, part.first_day - 1);
        continue;
      }
      out = std::min(out, part.last_day);
      const CompiledCalendar& calendar = *part.calendar;
      const auto same = calendar.same_hours_through(Day{std::chrono::days{day + day_asked_}});
      if (!same) continue;
      out = std::min(out, std::int64_t{same->time_since_epoch().count()} - day_asked_);
      if (calendar.zone().name == zone_->name) continue;
      out = std::min({out, same_offset_through(*zone_, day), same_offset_through(calendar.zone(), day)});
    }
  }
  return out;
}

std::optional<std::int64_t> DayRules::next_open_for(std::int64_t day, const IsWanted& is_wanted) const {
  auto open = next_open(day);
  while (open && has_hours_ && !std::ranges::any_of(open_on(*open), is_wanted)) {
    const std::int64_t same = std::max(same_open_through(*open), *open);
    if (same >= last_open_) return std::nullopt;
    open = next_open(same + 1);
  }
  return open;
}

const DayRules::Part& DayRules::part_in_force(const Parts& parts, std::int64_t local_ms) {
  auto in_force = parts.begin();
  for (auto at = parts.begin(); at != parts.end() && at->from_ms <= local_ms; ++at) in_force = at;
  return *in_force;
}

std::uint64_t DayRules::working_days(std::int64_t first, std::int64_t in_force_local_ms) const {
  std::uint64_t out = ~std::uint64_t{0};
  for (const Parts& parts : used_) {
    out &= part_in_force(parts, in_force_local_ms).calendar->open().from(first + day_asked_);
  }
  return out;
}

}  // namespace rota::master::core
