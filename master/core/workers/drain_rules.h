// Draining a worker: nothing new from the moment that the wish is stored; what runs finishes, or is handed
// over at the deadline. The wish belongs to the worker's id: lives and Terms come and go, it stays.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// NotFound for a worker that is neither here, nor holds attempts, nor is drained already.
void handle_drain_worker(Context& ctx, const DrainWorker& event);

/// Tells this life what is wished when its node says otherwise, and plans the deadline. Harmless when
/// repeated; call it when the life was reconciled and when its node has changed.
void follow_drain(Context& ctx, LifeEntry& life);

/// What the life says of itself in answer to hello; it may know of a telling that its node, as seen from
/// here, does not show yet. While it says that it drains and its node does not, it is asked again.
void apply_drain_ack(Context& ctx, LifeEntry& life, const std::optional<model::DrainAck>& word);

/// Its node has changed. What was known before stays where that is of a later telling.
void apply_drain_ack_of_node(Context& ctx, LifeEntry& life, const model::WorkerInfo& known);

/// The deadline: every attempt of this worker is ended, to be tried elsewhere by its loss policy.
void hand_over(Context& ctx, LifeEntry& life);

/// Whether a drain's deadline has ended this run's attempt. A Term that did not send the cancel itself
/// tells by the deadline.
bool was_handed_over(const Context& ctx, const RunEntry& run);

}  // namespace rota::master::core
