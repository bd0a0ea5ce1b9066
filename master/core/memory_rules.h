// Rules with memory: how often a job fires in all (`firings`), until when (`until: success`), after how many
// failures in a row it pauses itself, and when it is due after the end of its last run. What they count is
// stored with the job, since retention may delete runs. When they end a job, its version ends in the batch
// that decides it, as by an edit.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// A tick has its run. Its rules may end the job by that; then no later tick fires.
void remember_firing(Context& ctx, JobEntry& job, WallTime tick);

/// A run of the job is over.
void remember_end(Context& ctx, JobEntry& job, const RunEntry& run);

/// Why its rules end the job; empty: they do not.
std::string why_over(const JobEntry& job);
/// It is over because of runs that did not succeed.
bool is_paused_by_failures(const JobEntry& job);

/// When a run ended by which its rules end the job, also in an earlier Term; empty: none did. No tick after
/// it is recorded, however late ticks are.
std::optional<WallTime> over_since(const State& state, const JobEntry& job);

/// A tick that has fired was its last one.
bool is_over_by_tick(State& state, const JobEntry& job);

/// It is enabled by hand, or by an edit of these rules: all is counted anew.
void forget_counts(Context& ctx, JobEntry& job);

/// Its schedule is another one: what was planned by the old one after an end is void.
void forget_due(Context& ctx, JobEntry& job);

/// When it is due after an end, at or after now: set where nothing of it runs, cleared where its schedule
/// has no such entry.
void plan_after_end(State& state, JobEntry& job);

/// Its entry `after_end` is due with the next moment, or when its hours open.
void be_due_now(State& state, JobEntry& job);

/// After each event: writes what has changed, and ends the jobs that are over, unless ticks are held.
void settle_memories(Context& ctx);
/// At the begin of an event: jobs that their rules had ended when the Term began.
void settle_ends_of_before(Context& ctx);

}  // namespace rota::master::core
