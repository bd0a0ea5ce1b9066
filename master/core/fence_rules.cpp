#include "master/core/fence_rules.h"

#include <algorithm>

#include "master/core/batch_rows.h"
#include "master/core/worker_rules.h"

namespace rota::master::core {
namespace {

constexpr Millis kKillReserve{300};  // what a worker may take to kill once its voucher has ended
constexpr int kClockRates = 1000;    // two hosts' steady clocks part by less than one in so many
constexpr Millis kAssumedLease{4200};  // of workers that do not say: a session of 6 s
constexpr Millis kSilent{2000};        // without a renewal; then it is looked at again and again
constexpr Millis kSilentStill{500};

}  // namespace

/// Whether a life stands on the home that holds what is under way on its id; with nothing under way any
/// life does. An id that came up on another host knows nothing of what may still live on the first.
bool bears(const State& state, const model::WorkerKey& key) {
  for (auto at = state.lives.lower_bound({key.id, ""}); at != state.lives.end() && at->first.id == key.id;
       ++at) {
    if (!at->second.attempts.empty() && home_of(at->first) != home_of(key)) return false;
  }
  return true;
}

void handle_renew_asked(Context& ctx, const RenewAsked& event) {
  State& state = ctx.state;
  const LifeEntry* life = state.find_life(event.worker);
  if (life == nullptr || !life->present || !bears(state, event.worker)) {
    ++state.counters.renews_refused;
    reply(ctx, event.token,
          Error(ErrorCode::Unavailable, "this life of the worker is not registered, or not let in yet"));
    return;
  }
  // The worker counts its grant from the moment it sent the request, which is before now.
  WorkerEntry& worker = state.worker_of(event.worker.id);
  worker.grant_end = std::max(worker.grant_end, ctx.now.mono + state.options.grant + kKillReserve);
  ++state.counters.renews;
  expect_renewal(ctx, event.worker);
  reply(ctx, event.token, Renewed{});
}

Millis lease_of(const LifeEntry& life) { return life.info.lease.value_or(kAssumedLease); }

/// A session that expired by itself had no beat for a whole session, which is longer than a lease. That it
/// did cannot be seen by its node; so the last beat counts as of now unless it is known to be older.
void note_lease(Context& ctx, const LifeEntry& life) {
  WorkerEntry& worker = ctx.state.worker_of(life.info.key.id);
  std::erase_if(worker.leases, [&](const auto& each) { return each.second <= ctx.now.mono; });
  const MonoTime last = std::min(ctx.now.mono, life.last_beat.value_or(ctx.now.mono));
  worker.leases[life.info.key.incarnation] = last + lease_of(life) + kKillReserve;
}

void handle_beats_ended(Context& ctx, const BeatsEnded& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.key);
  if (life == nullptr) return;
  life->last_beat = event.last_before;
  WorkerEntry& worker = state.worker_of(event.key.id);
  const auto lease = worker.leases.find(event.key.incarnation);
  if (lease == worker.leases.end()) return;  // its node is still told of as there
  lease->second = std::min(lease->second, event.last_before + lease_of(*life) + kKillReserve);
  if (!worker.absent_since) return;
  for (const RunId run : state.runs_on(event.key.id)) look_at_fence(ctx, *state.find_run(run));
}

void expect_renewal(Context& ctx, const model::WorkerKey& key) {
  ctx.state.life_timers.set(key, LifeTimer::Silence, ctx.now.mono + kSilent);
}

void watch_silent(Context& ctx, const model::WorkerKey& key) {
  const LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->present) return;
  ctx.state.life_timers.set(key, LifeTimer::Silence, ctx.now.mono + kSilentStill);
  if (!life->attempts.empty()) ctx.out.watch_beats.push_back(key);
}

MonoTime fence_of(const State& state, const WorkerEntry& worker, MonoTime absent_since,
                  const model::JobRules& rules) {
  const CoreOptions& options = state.options;
  const Millis older = std::max({options.grant, options.older_grant, state.longest_lease, kAssumedLease});
  const MonoTime older_vouchers = state.began + older + options.fence_hold + kKillReserve;
  MonoTime leases{};
  for (const auto& [incarnation, end] : worker.leases) leases = std::max(leases, end);
  const Millis parting = rules.disconnect_grace / kClockRates;
  const MonoTime vouched_until = std::max({absent_since, worker.grant_end, leases, older_vouchers});
  return vouched_until + rules.disconnect_grace + parting;
}

void look_at_fence(Context& ctx, RunEntry& run) {
  State& state = ctx.state;
  if (!run.is_held()) return;
  const WorkerEntry& worker = state.worker_of(run.progress().worker.id);
  if (!worker.absent_since || waits_unseen(ctx, run)) return;
  const MonoTime fence = fence_of(state, worker, *worker.absent_since, *run.rules);
  if (fence > ctx.now.mono) {
    state.run_timers.set(run.row.id, RunTimer::Fence, fence);
    return;
  }
  if (ctx.out.list_workers == 0) ctx.out.list_workers = ++state.listings_asked;
  state.past_fence[run.row.id] = ctx.out.list_workers;
}

}  // namespace rota::master::core
