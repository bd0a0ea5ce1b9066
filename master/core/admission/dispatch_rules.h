// From a free slot to an attempt on its way, and what the worker's answer means.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Gives free slots to the runs that wait for them, in every pool where something changed.
void pump_slot_queues(Context& ctx);

/// Sends the present attempt to its worker, for the first time or again (harmless: the worker knows
/// the attempt by its key).
void send_attempt(Context& ctx, RunEntry& run);

/// Sends again what was not clearly answered, unless the worker must first say what it holds.
void retry_dispatch(Context& ctx, RunEntry& run);

/// Plans when the leader itself asks for the attempt's end, if the job has a timeout.
void set_backstop(Context& ctx, const RunEntry& run);

/// Asks the worker to end the present attempt, and again until it has ended.
void send_cancel(Context& ctx, RunEntry& run);

/// The worker holds the present attempt: Dispatched -> Running. Written with a later batch, and only
/// when it lasts (cost law).
void mark_running(Context& ctx, RunEntry& run, WallTime started);

void handle_dispatch_answered(Context& ctx, const DispatchAnswered& event);

/// Why the first run of this queue does not start. Pure.
model::Reason blocked_reason(const State& state, const SlotQueueKey& queue);

}  // namespace rota::master::core
