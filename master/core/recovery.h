// State from what the store holds, at the beginning of a Term.
#pragma once

#include <memory>

#include "master/core/state.h"

namespace rota::master::core {

/// An attempt that is stored for a worker stays with it until the worker is seen, or its fence has passed.
std::unique_ptr<State> recover_state(Epoch epoch, const CoreOptions& options, Recovered recovered,
                                     Now now);

}  // namespace rota::master::core
