// A run is to end before its time: somebody cancels it, or a newer run of its job takes its place.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// Ends it at once where no worker holds it; else its worker is asked to end the attempt, again and again,
/// and the run ends once that is proven or its fence has passed. Harmless for one that was asked before: what
/// was said first stays. `why`: its detail; the id of a run and nothing else: that one takes its place.
void cancel_run(Context& ctx, RunEntry& run, std::string why);

/// Whether it was asked to end for another run. By what is stored, so that every leader knows.
bool is_replaced(const RunEntry& run);

/// The reason of a run that ends because it was asked to: CancelledByUser or ReplacedBy.
model::Reason cancel_reason(const RunEntry& run);

/// Between TERM and KILL when it is asked to end.
Millis cancel_grace(const RunEntry& run);

/// All other runs of the job that wait for their turn end for that one, and so do the oldest of those under
/// way that were not asked to end, at most `count`.
void make_way(Context& ctx, JobEntry& job, RunId newer, std::size_t count);

}  // namespace rota::master::core
