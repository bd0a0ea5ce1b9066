#include "master/core/attempts/fence_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "master/core/batch_rows.h"
#include "master/core/attempts/confirm_rules.h"
#include "master/core/notices.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/usage_rules.h"
#include "master/core/workers/worker_rules.h"

namespace rota::master::core {
namespace {

constexpr Millis kKillReserve{300};  // what a worker may take to kill once its voucher has ended
constexpr int kClockRates = 1000;    // two hosts' steady clocks drift apart by less than one part in so many
constexpr Millis kAssumedLease{4200};  // of workers that do not say: a session of 6 s
constexpr Millis kSilent{2000};        // so long without a renewal; then look again and again
constexpr Millis kSilentStill{500};

/// Figures for people. What this renewal does not say is unknown from now on, unless it says a part alone.
void apply_figures(State& state, LifeEntry& life, const RenewAsked& event) {
  if (!event.vitals) return;
  state.workers().note_vitals(life, *event.vitals);
  life.has_fresh_figures = true;
  const auto known = std::exchange(life.usage, nullptr);
  std::vector<model::AttemptUsage> usage = event.usage;
  if (event.has_part_of_usage && known) usage = usage_with(*known, std::move(usage), life.attempts());
  if (usage.empty()) return;
  life.usage = std::make_shared<const std::vector<model::AttemptUsage>>(std::move(usage));
}

}  // namespace

bool is_on_home_of_attempts(const State& state, const model::WorkerKey& key) {
  for (const auto& [other, life] : state.workers().lives_of(key.id)) {
    if (!life.attempts().empty() && home_of(other) != home_of(key)) return false;
  }
  return true;
}

void handle_renew_asked(Context& ctx, const RenewAsked& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.worker);
  if (life == nullptr || !life->is_present() || !is_on_home_of_attempts(state, event.worker)) {
    ++state.counters().renews_refused;
    state.departed().note_heard(event.worker, ctx.now.mono);
    reply(ctx, event.token,
          Error(ErrorCode::Unavailable, "this life of the worker is not registered, or not let in yet"));
    return;
  }
  // The worker counts its grant from the moment it sent the request, which is before now.
  WorkerEntry& worker = state.workers().worker_of(event.worker.id);
  worker.grant_end = std::max(worker.grant_end, ctx.now.mono + state.options().grant + kKillReserve);
  ++state.counters().renews;
  apply_figures(state, *life, event);
  if (event.clock_offset) life->clock.note(*event.clock_offset);
  expect_renewal(ctx, event.worker);
  judge_signs(ctx, *life);
  reply(ctx, event.token, Renewed{});
}

Millis lease_of(const LifeEntry& life) { return life.info().lease.value_or(kAssumedLease); }

/// A session that expired by itself had no beat for a whole session timeout, which is longer than a lease.
/// But the node does not show why its session ended. So the last beat counts as of now, unless it is known
/// to be older.
void note_lease(Context& ctx, const LifeEntry& life) {
  WorkerEntry& worker = ctx.state.workers().worker_of(life.key().id);
  std::erase_if(worker.leases, [&](const auto& each) { return each.second <= ctx.now.mono; });
  const MonoTime last = std::min(ctx.now.mono, life.last_beat.value_or(ctx.now.mono));
  worker.leases[life.key().incarnation] = last + lease_of(life) + kKillReserve;
}

void handle_beats_ended(Context& ctx, const BeatsEnded& event) {
  State& state = ctx.state;
  LifeEntry* life = state.find_life(event.key);
  if (life == nullptr) return;
  life->last_beat = event.last_before;
  WorkerEntry& worker = state.workers().worker_of(event.key.id);
  const auto lease = worker.leases.find(event.key.incarnation);
  if (lease == worker.leases.end()) return;  // its node is still told of as there
  lease->second = std::min(lease->second, event.last_before + lease_of(*life) + kKillReserve);
  if (!worker.absent_since) return;
  for (const RunId run : state.workers().runs_on(event.key.id)) look_at_fence(ctx, *state.find_run(run));
}

void expect_renewal(Context& ctx, const model::WorkerKey& key) {
  if (LifeEntry* life = ctx.state.find_life(key)) {
    if (std::exchange(life->is_silence_told, false)) tell(ctx, "worker answers again", {{"worker", key.id}});
    life->renews_every = floor_ms(ctx.now.mono - life->heard);
    life->heard = ctx.now.mono;
  }
  ctx.state.workers().timers().set(key, LifeTimer::Silence, ctx.now.mono + kSilent);
}

void watch_silent(Context& ctx, const model::WorkerKey& key) {
  LifeEntry* life = ctx.state.find_life(key);
  if (life == nullptr || !life->is_present()) return;
  ctx.state.workers().timers().set(key, LifeTimer::Silence, ctx.now.mono + kSilentStill);
  judge_signs(ctx, *life);
  if (life->attempts().empty()) return;
  ctx.out.watch_beats.push_back(key);
  const auto since = silent_since(*life, ctx.now.mono);
  if (!since || std::exchange(life->is_silence_told, true)) return;
  warn(ctx, "worker does not answer",
       {{"worker", key.id},
        {"for_ms", std::to_string(floor_ms(ctx.now.mono - *since).count())},
        {"attempts", std::to_string(life->attempts().size())}});
}

std::optional<MonoTime> silent_since(const LifeEntry& life, MonoTime now) {
  const Millis usual = std::min(life.renews_every, kSilent);
  if (!life.is_present() || !life.is_reconciled() || now - life.heard <= kSilent + usual) return std::nullopt;
  return life.heard;
}

MonoTime expected_fence(const State& state, const LifeEntry& life, const model::JobRules& rules,
                        MonoTime now) {
  const WorkerEntry* worker = state.workers().find_worker(life.key().id);
  if (worker == nullptr) return now;
  if (worker->absent_since) return fence_of(state, *worker, *worker->absent_since, rules);
  // The lease is the session minus a tick of the server (500 ms), a sixth, and 300 ms (zk/lease_rules.h).
  const Millis session = (lease_of(life) + Millis{800}) * 6 / 5;
  return fence_of(state, *worker, std::max(now, life.heard + session), rules);
}

MonoTime fence_of(const State& state, const WorkerEntry& worker, MonoTime absent_since,
                  const model::JobRules& rules) {
  const CoreOptions& options = state.options();
  const Millis lease = std::max(state.workers().longest_lease(), kAssumedLease);
  const Millis older = std::max({options.grant, options.older_grant, lease});
  const MonoTime older_vouchers = state.began() + older + options.fence_hold + kKillReserve;
  MonoTime leases{};
  for (const auto& [incarnation, end] : worker.leases) leases = std::max(leases, end);
  const Millis parting = rules.disconnect_grace / kClockRates;
  const MonoTime vouched_until = std::max({absent_since, worker.grant_end, leases, older_vouchers});
  return vouched_until + rules.disconnect_grace + parting;
}

void look_at_fence(Context& ctx, RunEntry& run) {
  State& state = ctx.state;
  if (!run.is_held()) return;
  const WorkerEntry& worker = state.workers().worker_of(run.progress().worker().id);
  if (!worker.absent_since || waits_unseen(ctx, run)) return;
  const MonoTime fence = fence_of(state, worker, *worker.absent_since, run.rules());
  if (fence > ctx.now.mono) {
    state.runs().timers().set(run.id(), RunTimer::Fence, fence);
    return;
  }
  if (waits_for_confirmation(ctx, run)) return;
  if (ctx.out.list_workers == 0) ctx.out.list_workers = state.listings().ask();
  state.listings().wait_for(ctx.out.list_workers, run.id());
}

}  // namespace rota::master::core
