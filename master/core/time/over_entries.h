// Entries of a schedule that have moments to come, all of which their calendars close: these cover no day any
// more. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/schedule_entry.h"
#include "master/core/time/entries.h"

namespace rota::master::core {

/// The same entry as if it named no calendars.
model::ScheduleEntry without_calendars(model::ScheduleEntry entry);

/// The places of those that are due at no moment after this one, and would be without their calendars.
/// `compiled` are the entries of `schedule`.
std::vector<std::size_t> over_entries(const model::Schedule& schedule, const CompiledEntries& compiled,
                                      WallTime after);

/// Whether any entry is due after that moment: by the clock, after the end of a run, or for a worker's start.
bool any_fires_after(const CompiledEntries& compiled, WallTime after);

}  // namespace rota::master::core
