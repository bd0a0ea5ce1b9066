// Worker starts: jobs with an entry `@worker_start` fire once for each start of a worker that may run them.
// A start is accepted, stored and fired in one batch, when a life of it has first said what it holds. So a
// start that came while nobody led fires under the next leader, one that is stored never fires again, and a
// job that is applied later waits for the next start. The run belongs to that start: when the start is over
// before it could run, the run ends, and does not move to another worker.
#pragma once

#include <optional>
#include <string_view>

#include "master/core/state.h"

namespace rota::master::core {

/// Jobs that may have such an entry: each start makes a run of each of them, in one transaction.
inline constexpr std::size_t kStartJobsMost = 1000;
/// A worker that is away for so long does not come back for the runs that wait for it.
inline constexpr Millis kStartPatience{600'000};

inline constexpr std::string_view kStartedAgain = "its worker has started again";

/// Why a job with this plan is not accepted; `job`: as it is now, null for a new one.
std::optional<Error> why_no_start_job(const State& state, const JobEntry* job, const Plan& plan);

/// This life has said what it holds. Runs of other starts of its worker end; its own start may wait to fire.
void note_start_here(Context& ctx, const LifeEntry& life);

/// Its node is gone.
void note_start_gone(Context& ctx, const LifeEntry& life);

/// The first listing is here: who is not in it is away from now on.
void watch_absent_starts(Context& ctx);

/// The worker was away for kStartPatience.
void end_absent_starts(Context& ctx, const std::string& worker);

/// After each event: accepts starts that wait, unless ticks are held.
void fire_worker_starts(Context& ctx);

/// The bound run belongs to the start that this life is of.
bool is_of_start(const RunEntry& run, const LifeEntry& life);

/// The start that the run belongs to is over; nobody holds the run.
void end_with_start(Context& ctx, RunEntry& run, std::string_view why);

}  // namespace rota::master::core
