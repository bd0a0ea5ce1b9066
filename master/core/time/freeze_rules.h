// Freezes: ticks that do not fire for a while, and what starts at their end.
//
// A tick that a freeze covers becomes a gap that names the freeze, whenever it is recorded. When all ticks
// up to the end are recorded, each job's late policy decides once more, about the frozen ticks of the version
// that is valid then: fire_once starts one run for the newest of them, fire_all one for each, skip none.
// These runs have no tick of their own (the gap stands), and are caught up as runs of late ticks are. It
// takes bounded turns, job after job; how far it came is stored with the freeze.
#pragma once

#include <optional>

#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

void handle_begin_freeze(Context& ctx, const BeginFreeze& event);
void handle_end_freeze(Context& ctx, const EndFreeze& event);

/// Makes up for freezes that are over, a part in each turn.
void thaw_due(Context& ctx);
/// How long until thaw_due has something to do.
std::optional<Millis> thaw_wake(const State& state, Now now);

}  // namespace rota::master::core
