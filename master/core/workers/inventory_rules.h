// Compares what a worker says it holds with what is stored for it. Each worker is reconciled on its own.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// The worker says that this attempt does not live there: lost, with proof.
void end_dead(Context& ctx, RunEntry& run);

/// Applies the inventory of a life that is the only one of its worker id:
///   running, and the run's present attempt   adopted
///   running, forgotten by a restored         adopted: it goes on as the run's present attempt
///     database; no worker has the run, and it waits for no other
///   running, but given up or unknown         told to die
///   finished                                 its outcome is applied
///   tombstone of a present attempt           dead, and left no outcome
///   not named, stored for this very life     sent again: the same attempt, harmless when it was accepted
///   not named, stored for an earlier life    dead: attempts of an earlier life live on only if it names them
void reconcile(Context& ctx, LifeEntry& life, const model::Inventory& inventory);

}  // namespace rota::master::core
