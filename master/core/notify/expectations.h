// What a job expects of one run or tick, and whether it is met: facts in, an answer out. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/expect.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/zone.h"

namespace rota::master::core {

/// Whether such rules expect anything of a run; of a tick that has none.
bool expects_of_run(const model::JobRules& rules);
bool expects_of_tick(const model::JobRules& rules);

/// The first moment after the tick at which the zone shows that time; a time that is skipped counts as the
/// end of what is skipped, one that occurs twice by its first moment. Empty: it is no time.
std::optional<WallTime> finish_by_of(const std::string& clock, const model::ZoneRules& zone, WallTime tick);

/// The middle one, or between the two in the middle; empty: fewer than kPaceLeast.
std::optional<Millis> usual_length(std::vector<Millis> last);

/// How long a run may take; empty: not expected, or too few successes are known.
std::optional<Millis> length_limit(const std::string& longer_than, const std::vector<Millis>& last);

/// What is known of a run.
struct RunFactsNow {
  std::optional<WallTime> begun;       ///< when its first attempt was sent
  std::optional<WallTime> ended;       ///< empty: it has not ended
  model::RunState state = model::RunState::Waiting;
};

/// By `due` its first attempt had been sent.
bool started_in_time(const RunFactsNow& run, WallTime due);
/// It has succeeded, by `due`.
bool finished_in_time(const RunFactsNow& run, WallTime due);
/// Until it ended, or until `now`, it took no longer than that. One that never began took no time.
bool kept_to_length(const RunFactsNow& run, Millis limit, WallTime now);

}  // namespace rota::master::core
