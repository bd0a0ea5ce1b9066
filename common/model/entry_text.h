// An entry of a schedule as one line: clauses that begin with their key, "every 5m; between 09:30-16:00;
// time_zone America/New_York; name open". So it travels, and so it is stored. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/schedule_entry.h"

namespace rota::model {

/// InvalidArgument names the clause. What the entry must keep to besides, master/core/time/entry.h checks.
Result<ScheduleEntry> entry_from_text(std::string_view text);

/// The line that entry_from_text reads as the same; what has its default is left out.
std::string entry_to_text(const ScheduleEntry& entry);

}  // namespace rota::model
