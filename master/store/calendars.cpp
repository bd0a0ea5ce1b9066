#include "master/store/calendars.h"

#include "master/core/tables/calendar_table.h"

#include <utility>

namespace rota::master::store {
namespace {

bool is_of_same(const model::CalendarRow& a, const model::CalendarRow& b) {
  return a.space == b.space && a.calendar->name == b.calendar->name;
}

/// Whether the row is of no use because the one behind it, of the same calendar, has replaced it long ago.
bool is_replaced(const model::CalendarRow& row, const model::CalendarRow& next,
                 const std::optional<core::Watermark>& watermark) {
  if (!is_of_same(row, next)) return false;
  if (row.deleted || next.deleted) return true;  // a name that is used again begins anew
  return watermark && next.from + core::kReplacedMatters <= watermark->through;
}

}  // namespace

std::vector<core::RecoveredCalendar> calendars_to_recover(std::vector<model::CalendarRow> rows,
                                                          const std::optional<core::Watermark>& watermark,
                                                          const ZoneSource& zones) {
  std::vector<core::RecoveredCalendar> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size() && is_replaced(rows[i], rows[i + 1], watermark)) continue;
    auto zone = zones(rows[i].calendar->time_zone);
    out.push_back({std::move(rows[i]), zone ? *zone : nullptr});
  }
  return out;
}

}  // namespace rota::master::store
