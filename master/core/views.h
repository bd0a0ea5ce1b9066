// What the core shows of its State.
#pragma once

#include "master/core/snapshot.h"
#include "master/core/state.h"

namespace rota::master::core {

Snapshot view_state(const State& state, Now now);

}  // namespace rota::master::core
