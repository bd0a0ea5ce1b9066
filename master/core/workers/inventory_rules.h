// What a worker says it holds, against what is stored for it. Each worker is reconciled on its own.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// The worker says that this attempt does not live there: lost, with proof.
void end_dead(Context& ctx, RunEntry& run);

/// Takes the inventory of a life that is alone with its worker id:
///   running, and the run's present attempt   adopted
///   running, forgotten by a restored         taken up: it goes on as the run's present attempt
///     database, and the run is nobody's and waits for no other
///   running, but given up or unknown         told to die
///   finished                                 its outcome is taken
///   tombstone of a present attempt           dead, and left no outcome
///   lacking, stored for this very life       sent again: same attempt, harmless when it was taken
///   lacking, stored for an earlier life      dead: an earlier life's attempts live on only if told
void reconcile(Context& ctx, LifeEntry& life, const model::Inventory& inventory);

}  // namespace rota::master::core
