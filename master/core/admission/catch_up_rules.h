// The runs that stand for late ticks: each pool starts so many of them a second, and only where a slot is
// free that nothing live waits for. So no live tick is ever behind one of them, and none stands in the way of
// its own job's next tick before it has started.
#pragma once

#include <optional>

#include "master/core/state.h"

namespace rota::master::core {

/// Starts those whose turn it is; called after all that is live had its turn. Costs nothing while none waits.
void start_caught_up(Context& ctx);

/// Why such a run waits, and for about how long; for people.
struct CatchUpWait {
  model::Reason reason = model::Reason::CaughtUp;
  std::string detail;
};
CatchUpWait why_not_caught_up(const State& state, const RunEntry& run);

}  // namespace rota::master::core
