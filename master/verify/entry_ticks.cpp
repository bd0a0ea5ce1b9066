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
// Days between one for which a cron asks and the one on which it fires, in UTC; moved by calendars.
constexpr std::int64_t kFarHere = 3;
constexpr std::int64_t kFarMoved = 18;
constexpr std::int64_t kNear_s = 2 * 86'400;  // a zone's local time and UTC lie less than that apart

std::int64_t clock_of(std::int64_t local_ms) {
  const std::int64_t rest = local_ms % kMillisOfDay;
  return rest < 0 ? rest + kMillisOfDay : rest;
}

}  // namespace

Result<EntryTicks> EntryTicks::of(const std::string& line, const store::ZoneSource& zones, WallTime anchor,
                                  std::uint64_t job_hash, CalendarDays days) {
  EntryTicks out;
  out.days_ = std::move(days);
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

std::int64_t EntryTicks::offset_ms_at(WallTime moment) const { return zone_offset_ms(*zone_, to_ms(moment)); }

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

std::optional<WallTime> EntryTicks::after(WallTime at, WallTime through) {
  if (entry_.end) through = std::min(through, *entry_.end);
  const bool has_first = entry_.start && entry_.kind != EntryKind::At;
  if (has_first && *entry_.start > at) at = *entry_.start - Millis{1};
  if (!days_.empty()) return by_calendars_after(at, through);
  auto tick = any_after(at, through);
  while (tick && *tick <= through && !is_open(*tick)) {
    // No second is partly open, so the rest of this one is passed.
    const WallTime second_end = std::chrono::floor<std::chrono::seconds>(*tick) + kSecond - Millis{1};
    tick = any_after(std::max(*tick, entry_.kind == EntryKind::Every ? second_end : *tick), through);
  }
  return tick && *tick <= through ? tick : std::nullopt;
}

/// A local time may exist not at all, once or twice.
std::vector<WallTime> EntryTicks::moments_of(std::int64_t local_ms) const {
  const bool elapses = entry_.kind == EntryKind::Cron && cron_.follows_elapsed_time;
  std::vector<WallTime> out;
  std::optional<std::int64_t> end_of_skipped;
  const std::int64_t local_s = std::chrono::floor<std::chrono::seconds>(Millis{local_ms}).count();
  const auto& changes = zone_->changes;
  const auto near = std::ranges::upper_bound(changes, local_s - kNear_s, {}, &model::ZoneChange::from_utc_s);
  const auto before = std::max<std::ptrdiff_t>(std::distance(changes.begin(), near) - 1, 0);
  for (auto i = static_cast<std::size_t>(before); i < changes.size(); ++i) {
    const model::ZoneChange& change = changes[i];
    const bool is_first = i == 0;
    if (!is_first && change.from_utc_s > local_s + kNear_s) break;
    const std::int64_t from_ms = is_first ? INT64_MIN : change.from_utc_s * 1000;
    const std::int64_t to_ms =
        i + 1 < changes.size() ? changes[i + 1].from_utc_s * 1000 : INT64_MAX;
    const std::int64_t utc = local_ms - change.offset_s * std::int64_t{1000};
    if (utc >= from_ms && utc < to_ms) out.push_back(wall_from_ms(utc));
    const bool is_skipped = !is_first && utc < from_ms &&
                            local_ms >= from_ms + changes[i - 1].offset_s * std::int64_t{1000};
    if (is_skipped) end_of_skipped = from_ms;
  }
  if (out.empty() && end_of_skipped && !elapses && entry_.skipped_time == model::SkippedTime::RunAtEnd)
    return {wall_from_ms(*end_of_skipped)};
  if (out.size() < 2 || elapses || entry_.repeated_time == model::RepeatedTime::Both) return out;
  return {entry_.repeated_time == model::RepeatedTime::First ? out.front() : out.back()};
}

/// What the zone is ahead of UTC at all times of that local day, and of the days beside it; empty where it
/// changes.
std::optional<std::int64_t> EntryTicks::steady_offset_ms(std::int64_t day) const {
  const std::int64_t day_s = day * (kMillisOfDay / 1000);
  const auto index_at = [this](std::int64_t utc_s) {
    return std::ranges::upper_bound(zone_->changes, utc_s, {}, &model::ZoneChange::from_utc_s);
  };
  const auto change = index_at(day_s - kNear_s);
  if (change != index_at(day_s + 2 * kNear_s)) return std::nullopt;
  return zone_offset_ms(*zone_, day_s * 1000);
}

void EntryTicks::place(WallTime moment) {
  placed_[std::chrono::floor<std::chrono::days>(moment).time_since_epoch().count()].push_back(moment);
}

/// What the cron has on that day, to where the calendars let it fall.
void EntryTicks::place_day(std::int64_t day) {
  const auto whole = days_.whole_day(day);
  if (whole && !whole->there) return;
  const auto offset_ms = whole ? steady_offset_ms(*whole->there) : std::nullopt;
  const std::int64_t moved_ms = whole ? (*whole->there - day) * kMillisOfDay : 0;
  for_each_time(day, [&](std::int64_t local_ms) {
    const auto there = whole ? std::optional(local_ms + moved_ms) : days_.placed(local_ms);
    if (!there) return;
    if (offset_ms) {
      place(wall_from_ms(*there - *offset_ms));
    } else {
      for (const WallTime moment : moments_of(*there)) place(moment);
    }
  });
}

/// Moments of the first day, where none can come in between any more.
bool EntryTicks::open_next_day() {
  const std::int64_t far = entry_.otherwise == model::Otherwise::Skip ? kFarHere : kFarMoved;
  if (placed_.empty() || placed_.begin()->first + far >= *next_day_) return false;
  today_ = std::move(placed_.begin()->second);
  placed_.erase(placed_.begin());
  if (!std::ranges::is_sorted(today_)) std::ranges::sort(today_);
  today_.erase(std::unique(today_.begin(), today_.end()), today_.end());
  next_ = 0;
  return true;
}

/// Days are placed one by one, until none that follows can fall before what is found.
std::optional<WallTime> EntryTicks::placed_cron_after(WallTime at, WallTime through) {
  const std::int64_t far = entry_.otherwise == model::Otherwise::Skip ? kFarHere : kFarMoved;
  const auto day_of = [](WallTime moment) {
    return std::chrono::floor<std::chrono::days>(moment).time_since_epoch().count();
  };
  if (!next_day_) next_day_ = day_of(at) - far;
  while (true) {
    while (next_ < today_.size() && today_[next_] <= at) ++next_;
    if (next_ < today_.size()) return today_[next_];
    if (open_next_day()) continue;
    if (*next_day_ > day_of(through) + far) return std::nullopt;
    place_day((*next_day_)++);
  }
}

/// What the calendars say of that local day as a whole; the last answer is kept.
const std::optional<CalendarDays::WholeDay>& EntryTicks::whole_day(std::int64_t day) {
  if (asked_day_ != day) whole_day_ = days_.whole_day(day);
  asked_day_ = day;
  return whole_day_;
}

/// A moment before the end of that closed day, and not before the tick.
WallTime EntryTicks::late_in_day(WallTime tick, std::int64_t day) const {
  const std::int64_t midnight = (day + 1) * kMillisOfDay;
  const std::int64_t offset = offset_ms_at(tick);
  const std::int64_t later = offset_ms_at(wall_from_ms(midnight - offset));  // clocks may go forward
  return std::max(tick, wall_from_ms(midnight - std::max(offset, later) - 1));
}

/// What falls on an open day stays there; whole closed days are passed in one step.
std::optional<WallTime> EntryTicks::on_open_day_after(WallTime at, WallTime through) {
  auto tick = any_after(at, through);
  while (tick && *tick <= through) {
    const std::int64_t local = to_ms(*tick) + offset_ms_at(*tick);
    const std::int64_t day = std::chrono::floor<std::chrono::days>(Millis{local}).count();
    const auto& whole = whole_day(day);
    const bool stays = whole ? whole->there == day : days_.placed(local) == local;
    if (stays && is_open(*tick)) return tick;
    tick = any_after(whole && !stays ? late_in_day(*tick, day) : *tick, through);
  }
  return std::nullopt;
}

/// With calendars.
std::optional<WallTime> EntryTicks::by_calendars_after(WallTime at, WallTime through) {
  const auto up_to = [through](std::optional<WallTime> tick) {
    return tick && *tick <= through ? tick : std::nullopt;
  };
  if (entry_.kind == EntryKind::Cron && !entry_.is_as_quartz) return up_to(placed_cron_after(at, through));
  if (entry_.kind == EntryKind::WorkingDay) return up_to(working_day_after(at, through));
  if (entry_.kind == EntryKind::At) {
    if (!entry_.start) return std::nullopt;
    const std::int64_t local = to_ms(*entry_.start) + offset_ms_at(*entry_.start);
    const auto there = days_.placed(local);
    if (!there) return std::nullopt;
    const auto moments = *there == local ? std::vector{*entry_.start} : moments_of(*there);
    return !moments.empty() && moments.front() > at ? up_to(moments.front()) : std::nullopt;
  }
  return on_open_day_after(at, through);
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
  const std::int64_t clock_ms = entry_.time.empty() ? 0 : model::clock_from_text(entry_.time).value_or(0);
  if (!days_.empty()) {
    const auto number = [](sys_days day) { return std::int64_t{day.time_since_epoch().count()}; };
    const auto planned = days_.working_day(number(sys_days{month / 1}), number(sys_days{month / last}),
                                           entry_.working_day, clock_ms);
    const auto moments = planned ? moments_of(*planned) : std::vector<WallTime>();
    return moments.empty() ? std::nullopt : std::optional(moments.front());
  }
  const std::int64_t clock_s = clock_ms / 1000;
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
