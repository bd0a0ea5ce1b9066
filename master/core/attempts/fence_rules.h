// How long an attempt of an absent worker may still live, and from when another may follow it: both of its
// vouchers must have ended. The leader's is known here. ZooKeeper's is the worker's own knowledge: it ends
// one lease after the last answered beat, and a session may end long before its time, by whoever closes it.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Whether a life is on the home that holds the attempts under way on its id; true when there are none. An id
/// that comes up on another host knows nothing about attempts that may still live on the first host.
bool is_on_home_of_attempts(const State& state, const model::WorkerKey& key);

void handle_renew_asked(Context& ctx, const RenewAsked& event);
void handle_beats_ended(Context& ctx, const BeatsEnded& event);

/// What one answered beat is worth to this life at most.
Millis lease_of(const LifeEntry& life);

/// Its node is gone: remembers how long ZooKeeper may still vouch for it.
void note_lease(Context& ctx, const LifeEntry& life);

/// A worker asks for a voucher once a second. When it stays silent, its beats are watched (watch_silent). So,
/// when the session of a host that died expires, the leader knows that no beat came for long.
void expect_renewal(Context& ctx, const model::WorkerKey& key);
void watch_silent(Context& ctx, const model::WorkerKey& key);

/// The moment from which another attempt of this run may follow, its worker being absent since
/// `absent_since`: when both vouchers must have lapsed, plus the job's disconnect_grace.
MonoTime fence_of(const State& state, const WorkerEntry& worker, MonoTime absent_since,
                  const model::JobRules& rules);

/// For people: when it was last heard, if it is registered and has not asked for a voucher for too long.
std::optional<MonoTime> silent_since(const LifeEntry& life, MonoTime now);

/// For people: when another attempt of the run may follow the one that is stored for this life, if the worker
/// stays away. While its node is there this is a guess: when its session must have expired.
MonoTime expected_fence(const State& state, const LifeEntry& life, const model::JobRules& rules,
                        MonoTime now);

/// The run's fence timer. A listing that begins after the fence must show that the worker is still absent: an
/// earlier one may be old, and a newer session may vouch for the worker.
void look_at_fence(Context& ctx, RunEntry& run);

}  // namespace rota::master::core
