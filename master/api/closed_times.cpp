#include "master/api/closed_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/model/entry_text.h"
#include "common/time/zones.h"
#include "master/api/closing.h"
#include "master/core/time/entry.h"
#include "master/core/time/local_times.h"
#include "master/core/time/over_entries.h"

namespace rota::master::api {
namespace {

using model::Day;
using model::ScheduleEntry;

constexpr std::size_t kMostClosed = 100;
constexpr int kMostLookedAt = 5000;

/// Each day once.
void find_closed(const Closing& closing, const ScheduleEntry& entry, const model::ZonePtr& zone,
                 WallTime anchor, std::uint64_t job_hash, WallTime after, WallTime through,
                 std::vector<ClosedTime>& out) {
  const auto compiled = core::compile_entry(core::without_calendars(entry), {zone, {}}, anchor, job_hash);
  std::optional<Day> told;
  auto tick = compiled ? compiled->next_after(after) : std::nullopt;
  for (int i = 0; tick && *tick <= through && i < kMostLookedAt; ++i) {
    const Day day = day_of(core::local_ms_of(*zone, *tick));
    const auto closed = told == day ? std::nullopt : closing.closed_at(*tick);
    if (closed) {
      const std::string& name = closing.version_of(*closed).calendar->name();
      out.push_back({*tick, fmt::format("closed by calendar {}: {}", name, closing.words_for(*closed))});
      told = day;
    }
    tick = compiled->next_after(*tick);
  }
}

std::optional<Closing> closing_of(const ScheduleEntry& entry, const core::CalendarSource& calendars) {
  const bool has_moments = entry.kind == model::EntryKind::Cron || entry.kind == model::EntryKind::Every ||
                           entry.kind == model::EntryKind::At;
  auto zone = timezone::load_zone(entry.time_zone);
  if (!has_moments || entry.calendars.empty() || !zone) return std::nullopt;
  std::vector<core::CalendarHistory> histories;
  for (const std::string& name : entry.calendars) {
    const auto history = calendars ? calendars(name) : nullptr;
    if (history == nullptr) return std::nullopt;
    histories.push_back(*history);
  }
  return std::optional<Closing>(std::in_place, entry, *zone, std::move(histories));
}

}  // namespace

std::vector<ClosedTime> closed_times(const model::Schedule& schedule, WallTime anchor,
                                     std::uint64_t job_hash, const core::CalendarSource& calendars,
                                     WallTime after, WallTime through) {
  std::vector<ClosedTime> out;
  for (const std::string& line : schedule.entries) {
    const auto entry = model::entry_from_text(line);
    const auto closing = entry ? closing_of(*entry, calendars) : std::nullopt;
    const auto zone = entry ? timezone::load_zone(entry->time_zone) : Result<model::ZonePtr>();
    if (closing) find_closed(*closing, *entry, *zone, anchor, job_hash, after, through, out);
  }
  std::ranges::stable_sort(out, {}, &ClosedTime::at);
  if (out.size() > kMostClosed) out.resize(kMostClosed);
  return out;
}

}  // namespace rota::master::api
