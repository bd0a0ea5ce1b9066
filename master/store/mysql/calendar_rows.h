// Calendars as rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/calendar.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias c, for read_calendar.
inline constexpr std::string_view kCalendarColumns =
    "c.namespace, c.name, c.version, c.from_ms, c.changed_ms, c.principal, c.why, c.deleted, c.definition";

/// A row that stands stays as it is: the same batch again.
Result<void> write_calendars(BatchText& batch, const std::vector<model::CalendarRow>& rows);

/// Corrupt when this program cannot read it.
Result<model::CalendarRow> read_calendar(Row& row);

}  // namespace rota::master::store
