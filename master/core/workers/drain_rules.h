// Draining a worker: it gets nothing new from the moment at which the drain is stored. What runs finishes, or
// is handed over at the deadline. A drain belongs to the worker's id: it outlasts lives and Terms.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// NotFound for a worker that is neither here, nor holds attempts, nor is drained already.
void handle_drain_worker(Context& ctx, const DrainWorker& event);

/// Tells this life whether it is drained, when its node says otherwise, and plans the deadline. Harmless when
/// repeated. Call it when the life was reconciled and when its node has changed.
void follow_drain(Context& ctx, LifeEntry& life);

/// What the life says about its drain in answer to hello. It may know something that its node, as seen from
/// here, does not show yet. While it says that it drains and its node does not, it is asked again.
void apply_drain_ack(Context& ctx, LifeEntry& life, const std::optional<model::DrainAck>& word);

/// Its node has changed. What was known before stays when it is newer than what the node says.
void apply_drain_ack_of_node(Context& ctx, LifeEntry& life, const model::WorkerInfo& known);

/// The deadline: every attempt of this worker is ended. Its loss policy decides whether it is tried
/// elsewhere.
void hand_over(Context& ctx, LifeEntry& life);

/// Whether a drain's deadline has ended this run's attempt. A Term that did not send the cancel itself
/// knows it by the deadline.
bool was_handed_over(const Context& ctx, const RunEntry& run);

}  // namespace rota::master::core
