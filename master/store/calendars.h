// Which versions of calendars matter to whom. Both stores read them all, and choose here alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/utf8.h"
#include "common/model/calendar.h"
#include "master/core/recovered.h"
#include "master/core/time/calendar_source.h"
#include "master/core/time/watermark.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

inline Error no_calendar(const std::string& space, const std::string& name) {
  return Error(ErrorCode::NotFound, "no calendar '" + shown_text(name) + "' in namespace '" +
                                        shown_text(space) + "'");
}

/// `rows` by namespace, name and version. What a Term with this watermark and these freezes starts from: of
/// each calendar the version in force a while (core::kReplacedMatters) before the first moment that it may
/// plan, and those behind it; of a deleted one its last alone.
std::vector<core::RecoveredCalendar> calendars_to_recover(std::vector<model::CalendarRow> rows,
                                                          const core::Recovered& recovered,
                                                          const ZoneSource& zones);

/// Of all versions of one calendar, oldest first, those that a job version knows which became valid at that
/// moment: none of an earlier life. Null: there are none, or one cannot be read.
core::CalendarHistoryPtr history_known_at(const std::vector<model::CalendarRow>& rows, WallTime valid_from,
                                          const ZoneSource& zones);

}  // namespace rota::master::store
