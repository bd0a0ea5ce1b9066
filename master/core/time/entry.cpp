#include "master/core/time/entry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "common/model/schedule_text.h"
#include "master/core/time/cron_quartz.h"
#include "master/core/time/open_moments.h"
#include "master/core/time/planned_times.h"

namespace rota::master::core {
namespace {

using model::EntryKind;
using model::ScheduleEntry;

constexpr Millis kOftenAtMost{30'000};

/// A working day without a calendar is one from Monday to Friday.
const CalendarHistory& weekdays() {
  static const CalendarHistory kWeekdays = [] {
    model::Calendar calendar;
    calendar.name = "mon-fri";
    calendar.days = "mon-fri";
    auto compiled = compile_calendar(calendar, std::make_shared<const model::ZoneRules>());
    return CalendarHistory{{WallTime{}, std::make_shared<const CompiledCalendar>(std::move(*compiled))}};
  }();
  return kWeekdays;
}

DayRules day_rules(const ScheduleEntry& entry, const EntryParts& parts) {
  const bool needs_days = entry.kind == EntryKind::WorkingDay && parts.calendars.empty();
  if (needs_days) return DayRules({weekdays()}, *parts.zone, 0);
  return DayRules(parts.calendars, *parts.zone, entry.day);
}

}  // namespace

Result<CompiledEntry> compile_entry(const ScheduleEntry& entry, const EntryParts& parts, WallTime anchor,
                                    std::uint64_t hash) {
  const auto problems = entry_problems(entry);
  if (!problems.empty())
    return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
  CompiledEntry out;
  out.kind_ = entry.kind;
  out.name_ = entry.name;
  out.zone_ = parts.zone;
  if (entry.kind == EntryKind::Cron) {
    auto cron = parse_cron(model::cron_of_macro(entry.cron), entry.dialect, hash);
    if (!cron) return fail(cron.error());
    out.cron_ = std::make_shared<const CronExpression>(std::move(*cron));
  }
  out.days_ = day_rules(entry, parts);
  out.has_between_ = !entry.between.empty();
  const auto between = out.has_between_ ? model::clock_range_from_text(entry.between)
                                        : Result<model::ClockRange>(model::ClockRange{});
  if (!between) return fail(between.error());
  out.between_ = ranges_of_day(*between);
  if (!entry.time.empty()) out.clock_ms_ = model::clock_from_text(entry.time).value();
  out.is_as_quartz_ = entry.is_as_quartz;
  out.otherwise_ = entry.otherwise;
  out.skipped_time_ = entry.skipped_time;
  out.repeated_time_ = entry.repeated_time;
  out.interval_ = entry.interval;
  out.anchor_ = entry.start.value_or(anchor);
  out.working_day_ = entry.working_day;
  out.jitter_ = entry.jitter;
  out.start_ = entry.start;
  out.end_ = entry.end;
  out.find_edited_away();
  out.find_silence(parts);
  return out;
}

/// Whether the newest edit left it a moment at all, which takes a long search where it did not.
void CompiledEntry::find_silence(const EntryParts& parts) {
  if (days_.switches().empty()) return;
  WallTime newest{};
  for (const CalendarHistory& history : parts.calendars) newest = std::max(newest, history.back().from);
  if (!next_unbounded(newest)) silent_from_ = newest;
}

void CompiledEntry::find_edited_away() {
  if (days_.switches().empty() || is_as_quartz_) return;
  if (kind_ == EntryKind::Cron) edited_away_ = edited_away_of_cron(*cron_, days_, otherwise_, between_);
  if (kind_ == EntryKind::WorkingDay) {
    edited_away_ = edited_away_of_working_day(working_day_, clock_ms_, days_);
  }
  if (kind_ != EntryKind::At) return;
  for (const std::int64_t at : edited_away_of(local_ms_of(*zone_, *start_), days_, otherwise_)) {
    edited_away_once_.push_back(moment_of_moved(at));
  }
  std::ranges::sort(edited_away_once_);
}

std::optional<WallTime> CompiledEntry::next_edited_away(WallTime after) const {
  if (edited_away_.empty() && edited_away_once_.empty()) return std::nullopt;
  if (start_ && kind_ != EntryKind::At) after = std::max(after, *start_ - kSmallestStep);
  std::optional<WallTime> next;
  const auto once = std::ranges::upper_bound(edited_away_once_, after);
  if (once != edited_away_once_.end()) next = *once;
  if (!edited_away_.empty()) {
    const EditedAwayTimes times(cron_.get(), edited_away_);
    next = next_moment(times, *zone_, skipped_time_, repeated_time_, after);
  }
  return next && (!end_ || *next <= *end_) ? next : std::nullopt;
}

std::optional<WallTime> CompiledEntry::next_after(WallTime after) const {
  // One moment before `start`, since the answer lies strictly after. One that
  // is moved may come before it.
  if (start_ && kind_ != EntryKind::At) after = std::max(after, *start_ - kSmallestStep);
  if (is_silent_after(after)) return std::nullopt;
  const auto next = next_unbounded(after);
  if (!next || (end_ && *next > *end_)) return std::nullopt;
  return next;
}

std::optional<WallTime> CompiledEntry::next_unbounded(WallTime after) const {
  switch (kind_) {
    case EntryKind::AfterEnd:
    case EntryKind::WorkerStart:
      return std::nullopt;
    case EntryKind::Cron:
      return next_cron(after);
    case EntryKind::WorkingDay:
      return next_working_day(after);
    case EntryKind::Every:
      return next_rate(after);
    case EntryKind::At:
      break;
  }
  const auto moment = moved_once();
  return moment && *moment > after ? moment : std::nullopt;
}

std::optional<WallTime> CompiledEntry::next_cron(WallTime after) const {
  if (is_as_quartz_) {
    return has_rules() ? OpenMoments(days_, between_, *zone_).next_as_quartz(*cron_, after)
                       : next_as_quartz(*cron_, *zone_, after);
  }
  if (!has_rules()) return core::next_after(*cron_, *zone_, skipped_time_, repeated_time_, after);
  return next_moment(CalendarTimes(*cron_, days_, otherwise_, between_), *zone_, skipped_time_,
                     repeated_time_, after);
}

std::optional<WallTime> CompiledEntry::next_working_day(WallTime after) const {
  return next_moment(WorkingDayTimes(working_day_, clock_ms_, days_), *zone_, skipped_time_, repeated_time_,
                     after);
}

/// The first tick of a fixed rate strictly after `after`.
WallTime CompiledEntry::on_grid(WallTime after) const {
  const std::int64_t first = start_ ? 0 : 1;
  const std::int64_t k = after < anchor_ ? 0 : (after - anchor_) / interval_ + 1;
  return anchor_ + std::max(first, k) * interval_;
}

std::optional<WallTime> CompiledEntry::next_rate(WallTime after) const {
  const WallTime tick = on_grid(after);
  return has_rules() ? OpenMoments(days_, between_, *zone_).next_of_rate(tick, interval_) : tick;
}

std::optional<WallTime> CompiledEntry::moved_once() const {
  if (days_.is_empty()) return start_;
  const std::int64_t local = local_ms_of(*zone_, *start_);
  const auto moved = moved_to_open(local, days_, otherwise_);
  return moved ? std::optional(moment_of_moved(*moved)) : std::nullopt;
}

/// At: its own moment where it stays there.
WallTime CompiledEntry::moment_of_moved(std::int64_t local_ms) const {
  return local_ms == local_ms_of(*zone_, *start_) ? *start_ : moment_of_local(*zone_, local_ms);
}

std::optional<WallTime> CompiledEntry::due_after_end(WallTime ended) const {
  WallTime due = ended + interval_;
  if (start_) due = std::max(due, *start_);
  const auto open = has_rules() ? OpenMoments(days_, between_, *zone_).next(due) : std::optional(due);
  if (!open || (end_ && *open > *end_)) return std::nullopt;
  return open;
}

bool CompiledEntry::fires_often() const {
  if (kind_ == EntryKind::Every) return interval_ <= kOftenAtMost;
  return kind_ == EntryKind::Cron && std::popcount(cron_->seconds) > 1;
}

std::int64_t CompiledEntry::count_between(WallTime after, WallTime through, std::int64_t limit) const {
  if (end_) through = std::min(through, *end_);
  if (start_ && kind_ != EntryKind::At) after = std::max(after, *start_ - kSmallestStep);
  if (through <= after) return 0;
  const bool is_plain_rate = kind_ == EntryKind::Every && !has_rules();
  if (is_plain_rate) {
    const WallTime first = on_grid(after);
    return first > through ? 0 : std::min(limit, (through - first) / interval_ + 1);
  }
  if (kind_ == EntryKind::Cron && !is_as_quartz_) {
    if (!has_rules())
      return count_matches(*cron_, *zone_, skipped_time_, repeated_time_, after, through, limit);
    return count_moments(CalendarTimes(*cron_, days_, otherwise_, between_), *zone_, skipped_time_,
                         repeated_time_, after, through, limit);
  }
  std::int64_t count = 0;
  for (auto at = next_after(after); at && *at <= through && count < limit; at = next_after(*at)) ++count;
  return count;
}

}  // namespace rota::master::core
