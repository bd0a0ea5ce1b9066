// Which jobs an edit of a calendar leaves without moments: told with the edit, and in its plan. It decides
// nothing.
#pragma once

#include <cstddef>
#include <string>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

/// Of the jobs that use a calendar so many are looked at, in the order of their ids, while so many schedules
/// that differ are compiled for them; the first ones found are named.
inline constexpr std::size_t kMostUsersLookedAt = 10'000;
inline constexpr std::size_t kMostSchedulesTried = 500;
inline constexpr std::size_t kMostOverNamed = 20;

/// Of the jobs that use the calendar of this edit: those with entries that never fire once it counts, though
/// they would without their calendars. The calendars beside it (ApplyCalendar::beside) count as if they were
/// edited with it.
OverJobs over_jobs(const State& state, const ApplyCalendar& event, WallTime from);

}  // namespace rota::master::core
