// Jobs that ask for a confirmation when a worker is gone (loss: confirm): no other attempt follows before
// the worker itself has said that the last one is over, or an operator has said that the worker is dead.
// This does not make the fence pass sooner: an operator who is wrong starts nothing beside an attempt that
// still lives.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Asked once the run's fence has passed: whether it still waits for a confirmation. The run then says so.
bool waits_for_confirmation(Context& ctx, RunEntry& run);

/// An operator says that a worker is dead; it counts for what is under way on it now. Refused while the
/// worker is registered: then it says itself what it holds.
void handle_confirm_dead(Context& ctx, const ConfirmDead& event);

/// A life of that worker is here again. What was confirmed for other lives of the same home does not count
/// any more.
void note_return(Context& ctx, const std::string& id);

/// The run does not wait for its worker or an operator any more.
void stop_asking(RunEntry& run);

}  // namespace rota::master::core
