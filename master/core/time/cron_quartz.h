// The next moment of a cron exactly as Quartz 2.3 computes it
// (CronExpression.getTimeAfter), also around changes of a zone: there it works
// with Java's lenient calendar, which takes a local time that does not exist
// for the one an hour later, and one that exists twice for the second. So a
// fixed time that spring skips does not fire that day, and nothing fires during
// the first passage of what autumn repeats. Pure.
#pragma once

#include <optional>

#include "common/base/time.h"
#include "master/core/time/cron.h"

namespace rota::master::core {

/// The first moment strictly after `after`, before the year 2200. Asked from
/// within a first passage it answers as Quartz does from before it, so that the
/// moments do not depend on when one asks.
std::optional<WallTime> next_as_quartz(const CronExpression& cron, const model::ZoneRules& zone,
                                       WallTime after);

}  // namespace rota::master::core
