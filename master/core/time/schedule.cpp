#include "master/core/time/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "common/base/utf8.h"
#include "common/model/entry_text.h"
#include "common/model/schedule_text.h"

namespace rota::master::core {
namespace {

using model::Schedule;
using model::ScheduleKind;

constexpr Millis kShortestInterval{100};
constexpr Millis kOften{30'000};
constexpr Millis kLongestInterval = std::chrono::hours{24 * 3660};  // far longer ones would overflow

/// The error names the whole text.
Result<CronExpression> read_cron(const Schedule& schedule) {
  auto cron = parse_cron(model::cron_of_macro(schedule.cron), schedule.dialect);
  if (cron) return cron;
  return fail(cron.error().code,
              fmt::format("cron '{}': {}", shown_text(schedule.cron), cron.error().message));
}

/// Up to the first line that cannot be read.
Result<std::vector<model::ScheduleEntry>> read_entries(const Schedule& schedule) {
  std::vector<model::ScheduleEntry> out;
  for (std::size_t i = 0; i < schedule.entries.size(); ++i) {
    auto entry = model::entry_from_text(schedule.entries[i]);
    if (!entry) return fail(entry.error().code, fmt::format("schedule[{}].{}", i, entry.error().message));
    out.push_back(std::move(*entry));
  }
  return out;
}

std::vector<std::string> problems_of_entries(const Schedule& schedule) {
  if (schedule.kind != ScheduleKind::Entries) {
    if (schedule.entries.empty()) return {};
    return {"schedule: entries are given, but its kind is not \"entries\""};
  }
  if (schedule.entries.empty()) return {"schedule: its kind is \"entries\", but it has none"};
  const auto entries = read_entries(schedule);
  if (!entries) return {entries.error().message};
  return entries_problems(*entries);
}

Result<EntryParts> parts_of(const model::ScheduleEntry& entry, const model::Zones& zones,
                            const CalendarSource& calendars) {
  EntryParts parts{zones.named(entry.time_zone), {}};
  if (!parts.zone) return fail(ErrorCode::InvalidArgument, "an entry needs the rules of its time zone");
  for (const std::string& name : entry.calendars) {
    const CalendarHistoryPtr known = calendars ? calendars(name) : nullptr;
    if (!known) return fail(ErrorCode::InvalidArgument, fmt::format("there is no calendar {}", name));
    parts.calendars.push_back(*known);
  }
  return parts;
}

Result<CompiledEntries> compile_entries(const Schedule& schedule, const model::Zones& zones, WallTime anchor,
                                        std::uint64_t hash, const CalendarSource& calendars) {
  const auto entries = read_entries(schedule);
  if (!entries) return fail(entries.error());
  std::vector<CompiledEntry> out;
  for (const model::ScheduleEntry& entry : *entries) {
    const auto parts = parts_of(entry, zones, calendars);
    if (!parts) return fail(parts.error());
    auto compiled = compile_entry(entry, *parts, anchor, hash);
    if (!compiled) return fail(compiled.error());
    out.push_back(std::move(*compiled));
  }
  return CompiledEntries(std::move(out));
}

std::vector<std::string> problems_besides_cron(const Schedule& schedule) {
  std::vector<std::string> problems;
  if (schedule.kind == ScheduleKind::Once && !schedule.start) {
    problems.emplace_back("a schedule of one moment needs `start`");
  }
  if (schedule.kind == ScheduleKind::FixedRate && schedule.interval < kShortestInterval) {
    problems.push_back(fmt::format("an interval of {} ms is too short; at least {} ms",
                                   schedule.interval.count(), kShortestInterval.count()));
  }
  if (schedule.kind == ScheduleKind::FixedRate && schedule.interval > kLongestInterval) {
    problems.push_back(fmt::format("an interval of {} ms is too long; at most {} ms",
                                   schedule.interval.count(), kLongestInterval.count()));
  }
  if (schedule.start && schedule.end && *schedule.end < *schedule.start) {
    problems.emplace_back("`end` lies before `start`");
  }
  for (std::string& problem : problems_of_entries(schedule)) problems.push_back(std::move(problem));
  return problems;
}

/// How many ticks anchor, anchor + interval ... lie at or before `t`.
std::int64_t ticks_through(WallTime anchor, Millis interval, WallTime t) {
  return t < anchor ? 0 : (t - anchor) / interval + 1;
}

}  // namespace

std::vector<std::string> validate_schedule(const Schedule& schedule) {
  std::vector<std::string> problems = problems_besides_cron(schedule);
  if (schedule.kind == ScheduleKind::Cron) {
    if (const auto cron = read_cron(schedule); !cron) problems.insert(problems.begin(), cron.error().message);
  }
  return problems;
}

std::vector<std::string> calendars_of(const Schedule& schedule) {
  std::vector<std::string> out;
  const auto entries = read_entries(schedule);
  if (!entries) return out;
  for (const model::ScheduleEntry& entry : *entries) {
    for (const std::string& name : entry.calendars) {
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

Result<CompiledSchedule> compile(const Schedule& schedule, const model::Zones& zones, WallTime anchor,
                                 std::uint64_t hash, const CalendarSource& calendars) {
  CompiledSchedule compiled;
  if (schedule.kind == ScheduleKind::Cron) {  // read once: a leader takes over thousands of them
    auto cron = read_cron(schedule);
    if (!cron) return fail(ErrorCode::InvalidArgument, cron.error().message);
    compiled.compiled_ = std::make_shared<const CronExpression>(std::move(*cron));
  }
  const auto problems = problems_besides_cron(schedule);
  if (!problems.empty()) return fail(ErrorCode::InvalidArgument, problems.front());
  if (schedule.kind == ScheduleKind::Cron) {
    if (!zones.own) return fail(ErrorCode::InvalidArgument, "a cron needs the rules of its time zone");
    compiled.zone_ = zones.own;
  }
  if (schedule.kind == ScheduleKind::Entries) {
    auto entries = compile_entries(schedule, zones, anchor, hash, calendars);
    if (!entries) return fail(entries.error());
    compiled.compiled_ = std::make_shared<const CompiledEntries>(std::move(*entries));
    compiled.calendars_ = calendars_of(schedule);
  }
  compiled.kind_ = schedule.kind;
  compiled.skipped_time_ = schedule.skipped_time;
  compiled.repeated_time_ = schedule.repeated_time;
  compiled.interval_ = schedule.interval;
  compiled.anchor_ = anchor;
  compiled.start_ = schedule.start;
  compiled.end_ = schedule.end;
  return compiled;
}

std::optional<WallTime> CompiledSchedule::next_after(WallTime after) const {
  // One millisecond before `start`, since the answer lies strictly after.
  if (start_) after = std::max(after, *start_ - Millis{1});
  const auto next = next_unbounded(after);
  if (!next || (end_ && *next > *end_)) return std::nullopt;
  return next;
}

std::optional<WallTime> CompiledSchedule::next_edited_away(WallTime after) const {
  const CompiledEntries* all = entries();
  if (all == nullptr) return std::nullopt;
  if (start_) after = std::max(after, *start_ - Millis{1});
  const auto next = all->next_edited_away(after);
  return next && (!end_ || *next <= *end_) ? next : std::nullopt;
}

std::optional<WallTime> CompiledSchedule::next_recorded(WallTime after) const {
  const auto tick = next_after(after);
  const auto edited = next_edited_away(after);
  return edited && (!tick || *edited < *tick) ? edited : tick;
}

bool CompiledSchedule::fires_often() const {
  if (kind_ == ScheduleKind::FixedRate) return interval_ <= kOften;
  if (const CompiledEntries* all = entries()) return all->fires_often();
  return kind_ == ScheduleKind::Cron && std::popcount(cron().seconds) > 1;
}

std::string CompiledSchedule::names_at(WallTime tick) const {
  const CompiledEntries* all = entries();
  return all == nullptr ? std::string() : fmt::format("{}", fmt::join(all->names_at(tick), ","));
}

std::string CompiledSchedule::names_at_start(WallTime at) const {
  const CompiledEntries* all = entries();
  return all == nullptr ? std::string() : fmt::format("{}", fmt::join(all->names_at_start(at), ","));
}

bool CompiledSchedule::has_worker_start() const {
  const CompiledEntries* all = entries();
  return all != nullptr && std::ranges::any_of(all->all(), [](const CompiledEntry& entry) {
           return entry.kind() == model::EntryKind::WorkerStart;
         });
}

const CompiledEntry* CompiledSchedule::after_end() const {
  const CompiledEntries* all = entries();
  return all == nullptr ? nullptr : all->after_end();
}

std::optional<WallTime> CompiledSchedule::next_unbounded(WallTime after) const {
  switch (kind_) {
    case ScheduleKind::None: return std::nullopt;
    case ScheduleKind::Once: return *start_ > after ? start_ : std::nullopt;
    case ScheduleKind::FixedRate: return next_fixed_rate(after);
    case ScheduleKind::Entries: return entries()->next_after(after);
    case ScheduleKind::Cron: break;
  }
  return core::next_after(cron(), *zone_, skipped_time_, repeated_time_, after);
}

std::optional<WallTime> CompiledSchedule::next_fixed_rate(WallTime after) const {
  const std::int64_t first = start_ ? 0 : 1;
  const std::int64_t k = std::max(first, ticks_through(anchor_, interval_, after));
  return anchor_ + k * interval_;
}

std::optional<WallTime> CompiledSchedule::last_between(WallTime after, WallTime through) const {
  // Look at a stretch before `through` that grows until it holds a tick; then step to the last.
  Millis stretch = kind_ == ScheduleKind::FixedRate ? interval_ : Millis{std::chrono::minutes{1}};
  for (;; stretch *= 8) {
    const bool whole = stretch >= through - after;
    const WallTime from = whole ? after : through - stretch;
    auto last = next_after(from);
    if (last && *last <= through) {
      for (auto next = next_after(*last); next && *next <= through; next = next_after(*next)) {
        last = next;
      }
      return last;
    }
    if (whole) return std::nullopt;
  }
}

std::int64_t CompiledSchedule::count_between(WallTime after, WallTime through,
                                             std::int64_t limit) const {
  if (end_) through = std::min(through, *end_);
  if (start_) after = std::max(after, *start_ - Millis{1});
  if (through <= after) return 0;
  if (kind_ == ScheduleKind::FixedRate) {
    const WallTime from = start_ ? after : std::max(after, anchor_);
    if (through <= from) return 0;
    return std::min(limit, ticks_through(anchor_, interval_, through) -
                               ticks_through(anchor_, interval_, from));
  }
  if (kind_ == ScheduleKind::Cron) {
    return count_matches(cron(), *zone_, skipped_time_, repeated_time_, after, through, limit);
  }
  if (const CompiledEntries* all = entries()) return all->count_between(after, through, limit);
  const auto tick = next_after(after);
  return tick && *tick <= through && limit > 0 ? 1 : 0;
}

}  // namespace rota::master::core
