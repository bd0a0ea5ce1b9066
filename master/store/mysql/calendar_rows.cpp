#include "master/store/mysql/calendar_rows.h"

#include <utility>

#include "common/wire/calendar_json.h"
#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kCalendarWhyBytes = 1000;

const MultiRow kInsertCalendars{
    "INSERT INTO calendar (namespace, name, version, from_ms, changed_ms, principal, why, deleted, "
    "definition) VALUES",
    9, "ON DUPLICATE KEY UPDATE version = VALUES(version)"};

}  // namespace

Result<void> write_calendars(BatchText& batch, const std::vector<model::CalendarRow>& rows) {
  std::vector<std::string> definitions;
  for (const model::CalendarRow& row : rows) {
    auto json = wire::calendar_to_json(*row.calendar);
    if (!json) return fail(json.error());
    definitions.push_back(std::move(*json));
  }
  batch.add_rows(kInsertCalendars, {rows.size(), [&](Binder& binder, std::size_t i) {
                                      const model::CalendarRow& row = rows[i];
                                      binder.text(row.space)
                                          .text(row.calendar->name)
                                          .integer(row.version)
                                          .time(row.from)
                                          .time(row.changed)
                                          .text(row.principal)
                                          .prose(row.why, kCalendarWhyBytes)
                                          .integer(row.deleted ? 1 : 0)
                                          .text(definitions[i]);
                                    }});
  return {};
}

Result<model::CalendarRow> read_calendar(Row& row) {
  model::CalendarRow out;
  out.space = row.text();
  const std::string name = row.text();
  out.version = static_cast<std::int32_t>(row.integer());
  out.from = row.time();
  out.changed = row.time();
  out.principal = row.text();
  out.why = row.text();
  out.deleted = row.integer() != 0;
  auto calendar = wire::calendar_from_json(row.text());
  if (!calendar) return fail(calendar.error());
  calendar->name = name;
  out.calendar = std::make_shared<const model::Calendar>(std::move(*calendar));
  return out;
}

}  // namespace rota::master::store
