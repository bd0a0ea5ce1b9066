// A job is stuck when tick after tick is skipped because of one run that does not end. Nothing follows but
// that somebody is told: a notice in the log, and a counter. A new Term counts anew; gap rows name the run.
#pragma once

#include <cstdint>

#include "master/core/state.h"

namespace rota::master::core {

/// So many ticks in a row.
inline constexpr std::int64_t kStuckTicks = 3;

/// `count` ticks of the job were skipped behind that run.
void note_skipped(Context& ctx, JobEntry& job, RunId behind, model::Reason reason, std::int64_t count);

}  // namespace rota::master::core
