// A run is over. Every end passes here, however it came about: of a run that had begun its life (finish_run),
// and of one that is skipped before it could (skip_run). So what follows an end (notifications, expectations,
// what the job remembers, runs that wait behind it, child jobs) stands in one place, and no end forgets it.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// The run is over. Runs that waited behind it move up.
void finish_run(Context& ctx, RunEntry& run, model::RunState state, model::Reason reason,
                std::string detail = {});

/// The run of this row does not begin: it is stored as skipped.
void skip_run(Context& ctx, JobEntry& job, model::Run row, model::Reason reason, std::string detail);

/// Starts those that wait behind a run of this job, oldest first, as far as it has places for them now.
void promote_waiting(State& state, JobEntry& job, MonoTime now);

}  // namespace rota::master::core
