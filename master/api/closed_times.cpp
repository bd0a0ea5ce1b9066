#include "master/api/closed_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/model/entry_text.h"
#include "common/time/zones.h"
#include "master/core/time/entry.h"
#include "master/core/time/local_times.h"
#include "master/core/time/planned_times.h"

namespace rota::master::api {
namespace {

using core::DayAnswer;
using model::Day;
using model::kMillisOfDay;
using model::ScheduleEntry;

constexpr std::size_t kMostClosed = 100;
constexpr int kMostLookedAt = 5000;

Day day_of(std::int64_t local_ms) {
  return Day{std::chrono::floor<std::chrono::days>(Millis{local_ms})};
}

/// One entry that names calendars.
class Closing {
 public:
  Closing(ScheduleEntry entry, model::ZonePtr zone, std::vector<core::CalendarHistory> calendars)
      : entry_(std::move(entry)), zone_(std::move(zone)), calendars_(std::move(calendars)),
        days_(calendars_, *zone_, entry_.day) {}

  void find(WallTime anchor, std::uint64_t job_hash, WallTime after, WallTime through,
            std::vector<ClosedTime>& out) const {
    ScheduleEntry plain = entry_;
    plain.calendars.clear();
    plain.otherwise = model::Otherwise::Skip;
    plain.day = 0;
    const auto compiled = core::compile_entry(plain, {zone_, {}}, anchor, job_hash);
    std::optional<Day> told;
    auto tick = compiled ? compiled->next_after(after) : std::nullopt;
    for (int i = 0; tick && *tick <= through && i < kMostLookedAt; ++i) {
      const Day day = day_of(core::local_ms_of(*zone_, *tick));
      const std::string why = told == day ? "" : why_closed(*tick);
      if (!why.empty()) {
        out.push_back({*tick, why});
        told = day;
      }
      tick = compiled->next_after(*tick);
    }
  }

 private:
  std::string why_closed(WallTime tick) const {
    const std::int64_t local = core::local_ms_of(*zone_, tick);
    const Day asked = day_of(local) + std::chrono::days{entry_.day};
    for (const core::CalendarHistory& history : calendars_) {
      const core::CompiledCalendar& calendar = in_force(history, tick);
      const DayAnswer answer = calendar.on(asked);
      if (answer == DayAnswer::Open && !is_outside_of_hours(calendar, asked, local)) continue;
      const char* than = answer == DayAnswer::Open   ? " (outside of its hours)"
                         : answer == DayAnswer::Held ? " (beyond what it covers)"
                                                     : "";
      return fmt::format("closed by calendar {}: {}{}, {}", calendar.name(), model::day_to_text(asked), than,
                         where_to(local));
    }
    return "";
  }

  static const core::CompiledCalendar& in_force(const core::CalendarHistory& history, WallTime at) {
    auto found = history.begin();
    for (auto each = history.begin(); each != history.end() && each->from <= at; ++each) found = each;
    return *found->calendar;
  }

  /// By what is open through all of them: this one alone says nothing of other zones.
  bool is_outside_of_hours(const core::CompiledCalendar& calendar, Day asked, std::int64_t local) const {
    if (calendar.hours(asked) == nullptr) return false;
    return !core::moved_to_open(local, days_, model::Otherwise::Skip);
  }

  std::string where_to(std::int64_t local) const {
    if (entry_.otherwise == model::Otherwise::Skip) return "skipped";
    const auto moved = core::moved_to_open(local, days_, entry_.otherwise);
    if (!moved) return fmt::format("skipped: no day within {} days is open", core::kLongestShift);
    return "moved to " + model::day_to_text(day_of(*moved));
  }

  ScheduleEntry entry_;
  model::ZonePtr zone_;
  std::vector<core::CalendarHistory> calendars_;
  core::DayRules days_;
};

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
    if (closing) closing->find(anchor, job_hash, after, through, out);
  }
  std::ranges::stable_sort(out, {}, &ClosedTime::at);
  if (out.size() > kMostClosed) out.resize(kMostClosed);
  return out;
}

}  // namespace rota::master::api
