// Jobs that ask for a confirmation when a worker is gone (loss: confirm): no other attempt follows before
// the worker itself has told that the last one is over, or the operator that the worker is dead. His word
// lets no fence pass sooner, so that one who is wrong starts nothing beside what still lives.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Asked once the run's fence has passed: whether it goes on waiting for such a word. It then says so.
bool waits_for_confirmation(Context& ctx, RunEntry& run);

/// The operator's word that a worker is dead, for what is under way on it now. Refused while it is
/// registered: then it says itself what it holds.
void handle_confirm_dead(Context& ctx, const ConfirmDead& event);

/// A life of that worker is here again. What was said of others of the same home counts no longer.
void note_return(Context& ctx, const std::string& id);

/// The run waits no longer for a word of its worker's or of the operator's.
void stop_asking(RunEntry& run);

}  // namespace rota::master::core
