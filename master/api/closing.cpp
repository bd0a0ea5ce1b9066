#include "master/api/closing.h"

#include <fmt/format.h>

#include <utility>

#include "master/core/time/local_times.h"
#include "master/core/time/planned_times.h"

namespace rota::master::api {
namespace {

using core::DayAnswer;
using model::Day;

std::size_t in_force(const core::CalendarHistory& history, WallTime at) {
  std::size_t found = 0;
  while (found + 1 < history.size() && history[found + 1].from <= at) ++found;
  return found;
}

}  // namespace

Closing::Closing(model::ScheduleEntry entry, model::ZonePtr zone,
                 std::vector<core::CalendarHistory> calendars)
    : entry_(std::move(entry)),
      zone_(std::move(zone)),
      calendars_(std::move(calendars)),
      days_(calendars_, *zone_, entry_.day) {}

std::optional<Closed> Closing::closed_at(WallTime moment) const {
  const std::int64_t local = core::local_ms_of(*zone_, moment);
  Closed out;
  out.day = day_of(local) + std::chrono::days{entry_.day};
  for (; out.calendar < calendars_.size(); ++out.calendar) {
    out.version = in_force(calendars_[out.calendar], moment);
    const core::CompiledCalendar& calendar = *version_of(out).calendar;
    out.answer = calendar.on(out.day);
    if (out.answer == DayAnswer::Open && !is_outside_of_hours(calendar, out.day, local)) continue;
    if (entry_.otherwise == model::Otherwise::Skip) return out;
    out.moved_to = core::moved_to_open(local, days_, entry_.otherwise);
    return out;
  }
  return std::nullopt;
}

/// By what is open through all of them: this one alone says nothing of other
/// zones.
bool Closing::is_outside_of_hours(const core::CompiledCalendar& calendar, Day asked,
                                  std::int64_t local) const {
  if (calendar.hours(asked) == nullptr) return false;
  return !core::moved_to_open(local, days_, model::Otherwise::Skip);
}

std::string Closing::words_for(const Closed& closed) const {
  const char* than = closed.answer == DayAnswer::Open   ? " (outside of its hours)"
                     : closed.answer == DayAnswer::Held ? " (beyond what it covers)"
                                                        : "";
  std::string where = "skipped";
  if (closed.moved_to) {
    where = "moved to " + model::day_to_text(day_of(*closed.moved_to));
  } else if (entry_.otherwise != model::Otherwise::Skip) {
    where = fmt::format("skipped: no day within {} days is open", core::kLongestShift);
  }
  return fmt::format("{}{}, {}", model::day_to_text(closed.day), than, where);
}

}  // namespace rota::master::api
