#include "master/store/calendars.h"

#include "master/core/tables/calendar_table.h"

#include <algorithm>
#include <utility>

namespace rota::master::store {
namespace {

bool is_of_same(const model::CalendarRow& a, const model::CalendarRow& b) {
  return a.space == b.space && a.calendar->name == b.calendar->name;
}

/// Frozen ticks are planned once more when their freeze is over.
std::optional<WallTime> first_planned(const core::Recovered& recovered) {
  if (!recovered.watermark) return std::nullopt;
  WallTime first = recovered.watermark->through;
  for (const model::Freeze& freeze : recovered.freezes) first = std::min(first, freeze.from);
  return first;
}

/// The first of these versions of one calendar that a Term needs.
std::size_t first_needed(const std::vector<model::CalendarRow>& rows, std::size_t begin, std::size_t end,
                         std::optional<WallTime> planned_from) {
  std::size_t first = begin;
  for (std::size_t next = begin + 1; next < end; ++next) {
    const bool begins_anew = rows[next].deleted || rows[next - 1].deleted;  // a name that is used again, too
    const bool is_old = planned_from && rows[next].from + core::kReplacedMatters <= *planned_from;
    if (begins_anew || is_old) first = next;
  }
  return first;
}

}  // namespace

std::vector<core::RecoveredCalendar> calendars_to_recover(std::vector<model::CalendarRow> rows,
                                                          const core::Recovered& recovered,
                                                          const ZoneSource& zones) {
  const auto planned_from = first_planned(recovered);
  std::vector<core::RecoveredCalendar> out;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && is_of_same(rows[begin], rows[end])) ++end;
    for (std::size_t i = first_needed(rows, begin, end, planned_from); i < end; ++i) {
      auto zone = zones(rows[i].calendar->time_zone);
      out.push_back({std::move(rows[i]), zone ? *zone : nullptr});
    }
  }
  return out;
}

core::CalendarHistoryPtr history_known_at(const std::vector<model::CalendarRow>& rows, WallTime valid_from,
                                          const ZoneSource& zones) {
  auto history = std::make_shared<core::CalendarHistory>();
  for (const model::CalendarRow& row : rows) {
    if (row.deleted && row.changed > valid_from) break;
    if (row.deleted) history->clear();
    if (row.deleted) continue;
    const auto zone = zones(row.calendar->time_zone);
    if (!zone) return nullptr;
    auto compiled = core::compile_calendar(*row.calendar, *zone);
    if (!compiled) return nullptr;
    history->push_back({row.from, std::make_shared<const core::CompiledCalendar>(std::move(*compiled))});
  }
  return history->empty() ? nullptr : history;
}

}  // namespace rota::master::store
