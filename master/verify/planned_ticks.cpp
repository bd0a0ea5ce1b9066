#include "master/verify/planned_ticks.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/model/entry_text.h"
#include "common/model/schedule_text.h"
#include "master/core/time/cron_hash.h"

namespace rota::master::verify {

using model::ScheduleKind;

Result<PlannedTicks> PlannedTicks::of(const model::JobVersionRow& version,
                                      const store::ZoneSource& zones, WallTime through,
                                      WallTime from, const CalendarRows& calendars) {
  PlannedTicks out;
  if (!version.definition) return fail(ErrorCode::Corrupt, "a job version has no definition");
  if (version.enabled) out.schedule_ = version.definition->rules.schedule;
  out.anchor_ = version.anchor;
  out.at_ = std::max(version.valid_from, from - Millis{1});
  out.through_ = version.valid_to ? std::min(*version.valid_to, through) : through;
  if (out.schedule_.end) out.through_ = std::min(out.through_, *out.schedule_.end);
  if (out.schedule_.kind == ScheduleKind::Once && !out.schedule_.start) {
    return fail(ErrorCode::Corrupt, "a schedule of one moment names none");
  }
  if (out.schedule_.kind == ScheduleKind::FixedRate && out.schedule_.interval <= Millis{0}) {
    return fail(ErrorCode::Corrupt, "a fixed rate has no interval");
  }
  if (out.schedule_.kind == ScheduleKind::Entries) {
    if (auto read = out.read_entries(version, zones, calendars); !read) return fail(read.error());
  }
  if (out.schedule_.kind != ScheduleKind::Cron) return out;
  auto cron = core::parse_cron(model::cron_of_macro(out.schedule_.cron), out.schedule_.dialect);
  if (!cron) return fail(ErrorCode::Corrupt, cron.error().message);
  out.cron_ = std::move(*cron);
  auto zone = zones(out.schedule_.time_zone);
  if (!zone) return fail(zone.error());
  out.zone_ = std::move(*zone);
  return out;
}

std::optional<WallTime> PlannedTicks::next() {
  std::optional<WallTime> tick;
  switch (schedule_.kind) {
    case ScheduleKind::None: break;
    case ScheduleKind::Once:
      if (*schedule_.start > at_) tick = schedule_.start;
      break;
    case ScheduleKind::FixedRate: tick = rate_after(at_); break;
    case ScheduleKind::Entries: tick = entries_after(at_); break;
    case ScheduleKind::Cron: tick = cron_after(at_); break;
  }
  if (!tick || *tick > through_) {
    at_ = through_;
    schedule_.kind = ScheduleKind::None;
    return std::nullopt;
  }
  at_ = *tick;
  return tick;
}

Result<void> PlannedTicks::read_entries(const model::JobVersionRow& version, const store::ZoneSource& zones,
                                        const CalendarRows& calendars) {
  const std::uint64_t hash = core::job_hash(version.definition->space, version.definition->name);
  for (const std::string& line : schedule_.entries) {
    auto entry = model::entry_from_text(line);
    if (!entry) return fail(ErrorCode::Corrupt, entry.error().message);
    auto zone = zones(entry->time_zone);
    if (!zone) return fail(zone.error());
    const std::string& space = version.definition->space;
    auto days = CalendarDays::of(*entry, space, *zone, calendars, zones, version.valid_from);
    if (!days) return fail(days.error());
    auto ticks = EntryTicks::of(line, zones, version.anchor, hash, std::move(*days));
    if (!ticks) return fail(ticks.error());
    edited_away_.merge(ticks->edited_away(at_, through_));
    entries_.push_back({std::move(*ticks), std::nullopt, false});
  }
  return {};
}

/// A run does not end before its tick, so between two ticks lies the pause at least.
bool PlannedTicks::may_be_after_end(WallTime tick, std::optional<WallTime> before) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    const auto pause = entry.ticks.pause_after_end();
    return pause && (!before || tick - *before >= *pause) && entry.ticks.is_open(tick);
  });
}

bool PlannedTicks::has_after_end() const {
  return std::ranges::any_of(
      entries_, [](const Entry& entry) { return entry.ticks.pause_after_end().has_value(); });
}

/// Moments of several entries are one.
std::optional<WallTime> PlannedTicks::entries_after(WallTime at) {
  std::optional<WallTime> first;
  for (Entry& entry : entries_) {
    if (!entry.is_known || (entry.next && *entry.next <= at)) entry.next = entry.ticks.after(at, through_);
    entry.is_known = true;
    if (entry.next && (!first || *entry.next < *first)) first = entry.next;
  }
  return first;
}

std::optional<WallTime> PlannedTicks::cron_after(WallTime at) const {
  // The start itself may be a tick, so the search begins just before it.
  if (schedule_.start && *schedule_.start > at) at = *schedule_.start - Millis{1};
  return core::next_after(cron_, *zone_, schedule_.skipped_time, schedule_.repeated_time, at);
}

// With a start the anchor is the first tick; without one the first comes an interval later.
std::optional<WallTime> PlannedTicks::rate_after(WallTime at) const {
  const std::int64_t interval = schedule_.interval.count();
  WallTime earliest = at + Millis{1};
  if (schedule_.start) earliest = std::max(earliest, *schedule_.start);
  const WallTime first = schedule_.start ? anchor_ : anchor_ + schedule_.interval;
  if (earliest <= first) return first;
  const std::int64_t distance = (earliest - anchor_).count();
  const std::int64_t steps = (distance + interval - 1) / interval;  // rounded up
  return anchor_ + Millis{steps * interval};
}

}  // namespace rota::master::verify
