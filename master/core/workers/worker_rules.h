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
void handle_epoch_refused(Context& ctx, const EpochRefused& event);
void handle_zookeeper_replaced(Context& ctx, const ZookeeperReplaced& event);
void handle_unseen_gone(Context& ctx);

/// Something does not match what this life said it holds: it gets no work until it has said it again.
void ask_inventory(Context& ctx, const model::WorkerKey& key);

/// hello is due, again or for the first time.
void send_hello(Context& ctx, const model::WorkerKey& key);

/// Whether the run is held by a life that the ZooKeeper in use has never seen. That life may be registered in
/// another ZooKeeper, so no fence passes for it; the run is looked at again later.
bool waits_unseen(Context& ctx, RunEntry& run);

}  // namespace rota::master::core
