// The moments of a schedule that its calendars close, in words for people. Pure but for time zones.
#pragma once

#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/job.h"
#include "master/core/time/calendar_source.h"

namespace rota::master::api {

struct ClosedTime {
  WallTime at{};
  std::string why;  ///< "closed by calendar de: 2026-12-25, moved to 2026-12-28"
};

/// Those of its entries in (after, through], in order: each day of an entry once, at most 100. What cannot be
/// read closes nothing.
std::vector<ClosedTime> closed_times(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                                     const core::CalendarSource& calendars, WallTime after, WallTime through);

}  // namespace rota::master::api
