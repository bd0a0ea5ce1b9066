// What is always true of a State between two events.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// Empty when all holds; else a sentence naming what does not. Costs a walk over everything: for tests
/// and simulation.
std::string broken_invariant(const State& state);

}  // namespace rota::master::core
