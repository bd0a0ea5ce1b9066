#include "master/verify/calendar_days.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>

namespace rota::master::verify {
namespace {

using model::Day;
using model::DayRange;
using model::kMillisOfDay;
using model::Otherwise;

constexpr int kFarthest = 15;
constexpr std::int64_t kBegin = std::numeric_limits<std::int64_t>::min();

std::int64_t day_number(std::int64_t local_ms) {
  return std::chrono::floor<std::chrono::days>(Millis{local_ms}).count();
}

Day day_of(std::int64_t number) { return Day{std::chrono::days{number}}; }

bool has(const std::vector<DayRange>& ranges, Day day) {
  return std::ranges::any_of(ranges, [&](const DayRange& r) { return r.first <= day && day <= r.last; });
}

Result<std::vector<DayRange>> ranges_of(const std::vector<std::string>& texts) {
  std::vector<DayRange> out;
  for (const std::string& text : texts) {
    const auto range = model::day_range_from_text(text);
    if (!range) return fail(ErrorCode::Corrupt, range.error().message);
    out.push_back(*range);
  }
  return out;
}

/// The first moment of a local time; of one that spring skips, the end of what it skips, where it fires.
std::int64_t utc_of(const model::ZoneRules& zone, std::int64_t local_ms) {
  for (std::size_t i = 1; i < zone.changes.size(); ++i) {
    const std::int64_t from_ms = zone.changes[i].from_utc_s * 1000;
    const std::int64_t begin = from_ms + zone.changes[i - 1].offset_s * std::int64_t{1000};
    const std::int64_t end = from_ms + zone.changes[i].offset_s * std::int64_t{1000};
    if (local_ms >= begin && local_ms < end) return from_ms;
    if (from_ms > local_ms + 2 * kMillisOfDay) break;
  }
  const std::int64_t guess = local_ms - zone_offset_ms(zone, local_ms);
  const std::int64_t found = local_ms - zone_offset_ms(zone, guess);
  const std::int64_t earlier = local_ms - zone_offset_ms(zone, found - kMillisOfDay);
  const bool is_shown = earlier + zone_offset_ms(zone, earlier) == local_ms;
  return is_shown ? std::min(found, earlier) : found;
}

/// Those of the calendar that the job version knew: of its life at that moment, and what came later in it.
std::vector<model::CalendarRow> life_at(const std::vector<model::CalendarRow>& rows, WallTime moment) {
  std::vector<model::CalendarRow> out;
  for (const model::CalendarRow& row : rows) {
    if (row.deleted && row.changed > moment) break;
    if (row.deleted) out.clear();
    if (!row.deleted) out.push_back(row);
  }
  return out;
}

}  // namespace

std::int64_t zone_offset_ms(const model::ZoneRules& zone, std::int64_t utc_ms) {
  const std::int64_t utc_s = std::chrono::floor<std::chrono::seconds>(Millis{utc_ms}).count();
  const auto after = std::ranges::upper_bound(zone.changes, utc_s, {}, &model::ZoneChange::from_utc_s);
  return after == zone.changes.begin() ? 0 : std::prev(after)->offset_s * std::int64_t{1000};
}

Result<CalendarDays> CalendarDays::of(const model::ScheduleEntry& entry, const std::string& space,
                                      const model::ZonePtr& zone, const CalendarRows& rows,
                                      const store::ZoneSource& zones, WallTime valid_from) {
  CalendarDays out;
  out.zone_ = zone;
  out.otherwise_ = entry.otherwise;
  out.day_ = entry.day;
  for (const std::string& name : entry.calendars) {
    auto all = rows ? rows(space, name) : Result<std::vector<model::CalendarRow>>();
    if (!all) return fail(all.error());
    Versions versions;
    for (const model::CalendarRow& row : life_at(*all, valid_from)) {
      auto version = read(row, *zone, zones);
      if (!version) return fail(version.error());
      versions.push_back(std::move(*version));
    }
    if (versions.empty()) return fail(ErrorCode::Corrupt, "there is no calendar " + name);
    out.calendars_.push_back(std::move(versions));
  }
  return out;
}

Result<CalendarDays::Version> CalendarDays::read(const model::CalendarRow& row, const model::ZoneRules& zone,
                                                 const store::ZoneSource& zones) {
  const model::Calendar& calendar = *row.calendar;
  Version out;
  out.from_ms = to_ms(row.from) + zone_offset_ms(zone, to_ms(row.from));
  auto include = ranges_of(calendar.include);
  if (!include) return fail(include.error());
  out.include = std::move(*include);
  auto exclude = ranges_of(calendar.exclude);
  if (!exclude) return fail(exclude.error());
  out.exclude = std::move(*exclude);
  for (const auto& [days, times] : calendar.hours) {
    const auto range = model::day_range_from_text(days);
    const auto open = model::clock_range_from_text(times);
    if (!range || !open) return fail(ErrorCode::Corrupt, "hours of a calendar cannot be read");
    out.hours.push_back({*range, *open});
  }
  const auto weekdays = model::weekdays_from_text(calendar.days);
  if (!weekdays) return fail(ErrorCode::Corrupt, weekdays.error().message);
  out.weekdays = *weekdays;
  if (!calendar.covers.empty()) {
    const auto covers = model::day_range_from_text(calendar.covers);
    if (!covers) return fail(ErrorCode::Corrupt, covers.error().message);
    out.covers = *covers;
  }
  out.holds = calendar.beyond == model::BeyondCover::Hold;
  auto own_zone = zones(calendar.time_zone);
  if (!own_zone) return fail(own_zone.error());
  out.zone = std::move(*own_zone);
  return out;
}

CalendarDays::Says CalendarDays::says(const Version& version, Day day) {
  const bool is_covered = !version.covers || (version.covers->first <= day && day <= version.covers->last);
  if (!is_covered && version.holds) return Says::Nothing;
  if (is_covered && has(version.include, day)) return Says::Open;
  if (is_covered && has(version.exclude, day)) return Says::Closed;
  const unsigned weekday = std::chrono::weekday{day}.c_encoding();
  return ((version.weekdays >> weekday) & 1u) != 0 ? Says::Open : Says::Closed;
}

const CalendarDays::Version& CalendarDays::in_force(const Versions& versions, std::int64_t local_ms) {
  const Version* found = &versions.front();
  for (const Version& version : versions) {
    if (version.from_ms <= local_ms) found = &version;
  }
  return *found;
}

std::optional<CalendarDays::Hours> CalendarDays::hours_on(const Version& version, Day day) {
  for (const Hours& each : version.hours) {
    if (each.days.first <= day && day <= each.days.last) return each;
  }
  return std::nullopt;
}

/// An open day may be shorter, by the clock of the calendar's zone.
bool CalendarDays::is_in_hours(const Version& version, std::int64_t local_ms) const {
  const std::int64_t asked = day_number(local_ms) + day_;
  const auto hours = hours_on(version, day_of(asked));
  if (!hours) return true;
  std::int64_t there = local_ms;
  if (version.zone->name != zone_->name) {
    const std::int64_t utc = utc_of(*zone_, local_ms);
    there = utc + zone_offset_ms(*version.zone, utc);
  }
  return hours->open.has(there - asked * kMillisOfDay);
}

bool CalendarDays::is_open(std::int64_t local_ms, std::int64_t in_force_at) const {
  const Day asked = day_of(day_number(local_ms) + day_);
  return std::ranges::all_of(calendars_, [&](const Versions& versions) {
    const Version& version = in_force(versions, in_force_at);
    return says(version, asked) == Says::Open && is_in_hours(version, local_ms);
  });
}

/// A version that is in force at some time of that day, or the one given, says nothing of it.
bool CalendarDays::is_held(std::int64_t day, std::optional<std::int64_t> in_force_at) const {
  const Day asked = day_of(day + day_);
  const std::int64_t begin = day * kMillisOfDay;
  return std::ranges::any_of(calendars_, [&](const Versions& versions) {
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool has_begun = i == 0 || versions[i].from_ms < begin + kMillisOfDay;
      const bool is_over = i + 1 < versions.size() && versions[i + 1].from_ms <= begin;
      const bool is_asked = in_force_at && &in_force(versions, *in_force_at) == &versions[i];
      const bool counts = in_force_at ? is_asked : has_begun && !is_over;
      if (counts && says(versions[i], asked) == Says::Nothing) return true;
    }
    return false;
  });
}

std::optional<std::int64_t> CalendarDays::walk(std::int64_t local_ms,
                                               std::optional<std::int64_t> in_force_at) const {
  const std::int64_t step = otherwise_ == Otherwise::Previous ? -kMillisOfDay : kMillisOfDay;
  for (int moved = 0; moved <= kFarthest; ++moved) {
    const std::int64_t there = local_ms + moved * step;
    if (is_open(there, in_force_at.value_or(there))) return there;
    if (otherwise_ == Otherwise::Skip || is_held(day_number(there), in_force_at)) return std::nullopt;
  }
  return std::nullopt;
}

/// A version begins in [from, to).
bool CalendarDays::is_edited_between(std::int64_t from_ms, std::int64_t to_ms) const {
  return std::ranges::any_of(calendars_, [&](const Versions& versions) {
    return std::any_of(versions.begin() + 1, versions.end(), [&](const Version& version) {
      return version.from_ms >= from_ms && version.from_ms < to_ms;
    });
  });
}

/// No edit counts from a day on that may be looked at, and no day that is looked at has shorter hours: then
/// days alone decide.
std::optional<CalendarDays::WholeDay> CalendarDays::whole_day(std::int64_t day) const {
  const std::int64_t far = otherwise_ == Otherwise::Skip ? 0 : kFarthest;
  if (is_edited_between((day - far) * kMillisOfDay, (day + far + 1) * kMillisOfDay)) return std::nullopt;
  const std::int64_t step = otherwise_ == Otherwise::Previous ? -1 : 1;
  for (std::int64_t there = day; std::abs(there - day) <= far; there += step) {
    const Day asked = day_of(there + day_);
    bool is_open = true;
    bool is_held = false;
    for (const Versions& versions : calendars_) {
      const Version& version = in_force(versions, day * kMillisOfDay);
      const bool has_hours = std::ranges::any_of(version.hours, [&](const Hours& each) {
        return each.days.first <= asked && asked <= each.days.last;
      });
      if (has_hours) return std::nullopt;
      const Says answer = says(version, asked);
      is_open = is_open && answer == Says::Open;
      is_held = is_held || answer == Says::Nothing;
    }
    if (is_open) return WholeDay{there};
    if (is_held) break;
  }
  return WholeDay{};
}

/// The local times at which a version came into force, each once, behind the beginning of time.
std::vector<std::int64_t> CalendarDays::stretches() const {
  std::vector<std::int64_t> out = {kBegin};
  for (const Versions& versions : calendars_) {
    for (std::size_t i = 1; i < versions.size(); ++i) out.push_back(versions[i].from_ms);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// What is moved back falls before its own day: the first version decides by which it falls into the time in
/// which that version is in force.
std::optional<std::int64_t> CalendarDays::placed(std::int64_t local_ms) const {
  if (calendars_.empty()) return local_ms;
  if (otherwise_ != Otherwise::Previous) return walk(local_ms, std::nullopt);
  const auto from = stretches();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto found = walk(local_ms, from[i]);
    const bool is_before_next = i + 1 == from.size() || (found && *found < from[i + 1]);
    if (found && *found >= from[i] && is_before_next) return found;
  }
  return std::nullopt;
}

std::optional<std::int64_t> CalendarDays::working_day_by(std::int64_t first, std::int64_t last, int nth,
                                                         std::int64_t clock_ms,
                                                         std::int64_t in_force_at) const {
  std::vector<std::int64_t> open;
  for (std::int64_t day = first; day <= last; ++day) {
    const bool is_one = std::ranges::all_of(calendars_, [&](const Versions& versions) {
      return says(in_force(versions, in_force_at), day_of(day + day_)) == Says::Open;
    });
    if (is_one) open.push_back(day);
  }
  const auto count = static_cast<int>(open.size());
  const int index = nth > 0 ? nth - 1 : count + nth;
  if (index < 0 || index >= count) return std::nullopt;
  return open[static_cast<std::size_t>(index)] * kMillisOfDay + clock_ms;
}

std::optional<std::int64_t> CalendarDays::working_day(std::int64_t first, std::int64_t last, int nth,
                                                      std::int64_t clock_ms) const {
  const auto from = stretches();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto planned = working_day_by(first, last, nth, clock_ms, from[i]);
    if (planned && *planned >= from[i] && (i + 1 == from.size() || *planned < from[i + 1])) return planned;
  }
  return std::nullopt;
}

bool CalendarDays::is_edited_near(std::int64_t day) const {
  const auto differ = [](const Version& a, const Version& b, Day asked) {
    if (says(a, asked) != says(b, asked)) return true;
    const auto open = hours_on(a, asked), other = hours_on(b, asked);
    return open.has_value() != other.has_value() || (open && open->open != other->open);
  };
  for (std::int64_t asked = day - kFarthest - 1; asked <= day + kFarthest + 1; ++asked) {
    for (const Versions& versions : calendars_) {
      for (std::size_t i = 1; i < versions.size(); ++i) {
        const bool is_moved = versions[i].zone->name != versions[i - 1].zone->name;
        if (is_moved || differ(versions[i - 1], versions[i], day_of(asked))) return true;
      }
    }
  }
  return false;
}

std::vector<std::int64_t> CalendarDays::edits() const {
  auto out = stretches();
  out.erase(out.begin());
  return out;
}

/// As everybody knew them at that local time.
CalendarDays CalendarDays::until(std::int64_t local_ms) const {
  CalendarDays out = *this;
  for (Versions& versions : out.calendars_) {
    while (versions.size() > 1 && versions.back().from_ms > local_ms) versions.pop_back();
  }
  return out;
}

/// Each edit is looked at by itself, with the versions on both sides of it.
template <typename Place, typename PlaceBy>
std::vector<std::int64_t> CalendarDays::between_versions(const Place& place, const PlaceBy& place_by) const {
  const auto from = stretches();
  std::map<std::int64_t, std::int64_t> taken;  // by edit: the moment that the version before it had
  for (std::size_t i = 1; i < from.size(); ++i) {
    const auto before = place_by(from[i - 1]), after = place_by(from[i]);
    if (before && after && *before >= from[i] && *after < from[i]) taken[from[i]] = *before;
  }
  std::vector<std::int64_t> out;
  for (const auto& [edit, moment] : taken) {
    const auto next = taken.upper_bound(edit);
    const bool is_taken_again = next != taken.end() && next->first <= moment;
    if (!is_taken_again && !place(until(moment))) out.push_back(moment);
  }
  return out;
}

std::vector<std::int64_t> CalendarDays::edited_away(std::int64_t local_ms) const {
  return between_versions([&](const CalendarDays& known) { return known.placed(local_ms); },
                          [&](std::int64_t in_force_at) { return walk(local_ms, in_force_at); });
}

std::vector<std::int64_t> CalendarDays::working_day_edited_away(std::int64_t first, std::int64_t last,
                                                                int nth, std::int64_t clock_ms) const {
  return between_versions(
      [&](const CalendarDays& known) { return known.working_day(first, last, nth, clock_ms); },
      [&](std::int64_t in_force_at) { return working_day_by(first, last, nth, clock_ms, in_force_at); });
}

}  // namespace rota::master::verify
