// Workers that come and go: who is here, what each holds, who is vouched for, and from when an attempt
// of an absent worker may be followed by another (protocol.md, "Vouchers", "Workers that come and go").
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

void handle_worker_seen(Context& ctx, const WorkerSeen& event);
void handle_worker_gone(Context& ctx, const WorkerGone& event);
void handle_workers_listed(Context& ctx, const WorkersListed& event);
void handle_hello_answered(Context& ctx, const HelloAnswered& event);
void handle_hello_failed(Context& ctx, const HelloFailed& event);
void handle_renew_asked(Context& ctx, const RenewAsked& event);

/// Something does not fit what this life was said to hold: it gets no work until it has said again.
void ask_inventory(Context& ctx, const model::WorkerKey& key);

/// hello is due, again or for the first time.
void send_hello(Context& ctx, const model::WorkerKey& key);

/// The moment from which another attempt of this run may follow, its worker being absent since
/// `absent_since`: when both vouchers must have lapsed, plus the job's disconnect_grace.
MonoTime fence_of(const State& state, const WorkerEntry& worker, MonoTime absent_since,
                  const model::JobRules& rules);

/// The run's fence timer. That its worker is still absent must be seen by a listing that begins after the
/// fence: one known from before may be old, and the worker vouched for by a newer session.
void look_at_fence(Context& ctx, RunEntry& run);

}  // namespace rota::master::core
