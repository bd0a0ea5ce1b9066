#include "master/verify/entry_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "common/model/entry_text.h"
#include "common/model/schedule_text.h"
#include "master/core/time/cron_quartz.h"

namespace rota::master::verify {
namespace {

using model::EntryKind;
using model::kMillisOfDay;

constexpr Millis kSecond{1000};

std::int64_t clock_of(std::int64_t local_ms) {
  const std::int64_t rest = local_ms % kMillisOfDay;
  return rest < 0 ? rest + kMillisOfDay : rest;
}

}  // namespace

Result<EntryTicks> EntryTicks::of(const std::string& line, const store::ZoneSource& zones, WallTime anchor,
                                  std::uint64_t job_hash) {
  EntryTicks out;
  auto entry = model::entry_from_text(line);
  if (!entry) return fail(ErrorCode::Corrupt, entry.error().message);
  out.entry_ = std::move(*entry);
  out.anchor_ = out.entry_.start.value_or(anchor);
  auto zone = zones(out.entry_.time_zone);
  if (!zone) return fail(zone.error());
  out.zone_ = std::move(*zone);
  if (!out.entry_.between.empty()) {
    const auto between = model::clock_range_from_text(out.entry_.between);
    if (!between) return fail(ErrorCode::Corrupt, between.error().message);
    out.between_ = *between;
  }
  if (out.entry_.kind == EntryKind::Every && out.entry_.interval <= Millis{0}) {
    return fail(ErrorCode::Corrupt, "a fixed rate has no interval");
  }
  if (out.entry_.kind != EntryKind::Cron) return out;
  auto cron = core::parse_cron(model::cron_of_macro(out.entry_.cron), out.entry_.dialect, job_hash);
  if (!cron) return fail(ErrorCode::Corrupt, cron.error().message);
  out.cron_ = std::move(*cron);
  return out;
}

std::int64_t EntryTicks::offset_ms_at(WallTime moment) const {
  std::int64_t offset_s = 0;
  for (const model::ZoneChange& change : zone_->changes) {
    if (change.from_utc_s > std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count())
      break;
    offset_s = change.offset_s;
  }
  return offset_s * 1000;
}

/// Both ends are inside; over midnight when the second is the earlier one.
bool EntryTicks::is_between(std::int64_t local_ms) const {
  const std::int64_t clock = clock_of(local_ms);
  if (between_.from_ms < between_.to_ms) return clock >= between_.from_ms && clock < between_.to_ms;
  return clock >= between_.from_ms || clock < between_.to_ms;
}

/// By the local time that the tick has. A cron's tick at the end of what spring skips has the skipped one.
bool EntryTicks::is_open(WallTime tick) const {
  if (entry_.between.empty() || is_between(to_ms(tick) + offset_ms_at(tick))) return true;
  const std::int64_t before = offset_ms_at(tick - Millis{1});
  const std::int64_t since = offset_ms_at(tick);
  const bool may_be_skipped = entry_.kind == EntryKind::Cron && !cron_.follows_elapsed_time && since > before;
  if (!may_be_skipped || entry_.is_as_quartz || entry_.skipped_time == model::SkippedTime::Skip) return false;
  for (std::int64_t local = to_ms(tick) + before; local < to_ms(tick) + since; local += 1000) {
    const bool is_named = core::next_local_match(cron_, local / 1000) == local / 1000;
    if (is_named && is_between(local)) return true;
  }
  return false;
}

std::optional<Millis> EntryTicks::pause_after_end() const {
  return entry_.kind == EntryKind::AfterEnd ? std::optional(entry_.interval) : std::nullopt;
}

std::optional<WallTime> EntryTicks::after(WallTime at, WallTime through) const {
  if (entry_.end) through = std::min(through, *entry_.end);
  const bool has_first = entry_.start && entry_.kind != EntryKind::At;
  if (has_first && *entry_.start > at) at = *entry_.start - Millis{1};
  auto tick = any_after(at, through);
  while (tick && *tick <= through && !is_open(*tick)) {
    // No second is partly open, so the rest of this one is passed.
    const WallTime second_end = std::chrono::floor<std::chrono::seconds>(*tick) + kSecond - Millis{1};
    tick = any_after(std::max(*tick, entry_.kind == EntryKind::Every ? second_end : *tick), through);
  }
  return tick && *tick <= through ? tick : std::nullopt;
}

std::optional<WallTime> EntryTicks::any_after(WallTime at, WallTime through) const {
  switch (entry_.kind) {
    case EntryKind::Cron: return cron_after(at);
    case EntryKind::Every: return rate_after(at);
    case EntryKind::WorkingDay: return working_day_after(at, through);
    case EntryKind::At: return entry_.start && *entry_.start > at ? entry_.start : std::nullopt;
    case EntryKind::AfterEnd:
    case EntryKind::WorkerStart: break;
  }
  return std::nullopt;
}

std::optional<WallTime> EntryTicks::cron_after(WallTime at) const {
  if (entry_.is_as_quartz) return core::next_as_quartz(cron_, *zone_, at);
  return core::next_after(cron_, *zone_, entry_.skipped_time, entry_.repeated_time, at);
}

// With a start the anchor is the first tick; without one the first comes an interval later.
std::optional<WallTime> EntryTicks::rate_after(WallTime at) const {
  const WallTime first = entry_.start ? anchor_ : anchor_ + entry_.interval;
  if (at < first) return first;
  return anchor_ + ((at - anchor_) / entry_.interval + 1) * entry_.interval;
}

/// The n-th day from Monday to Friday, counted one by one.
std::optional<WallTime> EntryTicks::moment_in(std::chrono::year_month month) const {
  using namespace std::chrono;
  std::vector<sys_days> days_of_work;
  for (sys_days day{month / 1}; day <= sys_days{month / last}; day += days{1}) {
    const weekday name{day};
    if (name != Sunday && name != Saturday) days_of_work.push_back(day);
  }
  const auto count = static_cast<int>(days_of_work.size());
  const int index = entry_.working_day > 0 ? entry_.working_day - 1 : count + entry_.working_day;
  if (index < 0 || index >= count) return std::nullopt;
  const year_month_day date{days_of_work[static_cast<std::size_t>(index)]};
  const std::int64_t clock_s =
      entry_.time.empty() ? 0 : model::clock_from_text(entry_.time).value_or(0) / 1000;
  // As a cron of that one day, so that it passes changes of the zone as crons do.
  const std::string text = fmt::format("{} {} {} {} {} ? {}", clock_s % 60, clock_s / 60 % 60, clock_s / 3600,
                                       unsigned(date.day()), unsigned(date.month()), int(date.year()));
  const auto cron = core::parse_cron(text, model::CronDialect::Quartz);
  if (!cron) return std::nullopt;
  const WallTime before = sys_days{date} - days{3};
  return core::next_after(*cron, *zone_, entry_.skipped_time, entry_.repeated_time, before);
}

std::optional<WallTime> EntryTicks::working_day_after(WallTime at, WallTime through) const {
  using namespace std::chrono;
  const year_month_day date{floor<days>(at)};
  const sys_days last = ceil<days>(through) + days{2};  // zones lie less than that apart
  for (year_month month = date.year() / date.month() - months{1}; sys_days{month / 1} <= last;
       month += months{1}) {
    const auto tick = moment_in(month);
    if (tick && *tick > at) return tick;
  }
  return std::nullopt;
}

}  // namespace rota::master::verify
