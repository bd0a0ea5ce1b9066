// State from what the store holds, at the beginning of a Term.
#pragma once

#include <memory>

#include "master/core/state.h"

namespace rota::master::core {

/// Attempts stored for a worker stay with it until it is seen, or its absence has passed the fence.
std::unique_ptr<State> recover_state(Epoch epoch, const CoreOptions& options, Recovered recovered,
                                     Now now);

}  // namespace rota::master::core
