// What people are told of runs that take more than one slot, or amounts beside it, and of those behind
// them. Pure.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// "2 slots, memory 8GiB"
std::string demand_text(const model::Demand& demand);

/// Of a run that waits for a worker: what it needs, which worker is kept for it and who has what there; or,
/// of one that needs one slot alone, which worker is kept for another. Empty: nothing of that.
std::string demand_words(const State& state, const RunEntry& run, model::Reason reason);

}  // namespace rota::master::core
