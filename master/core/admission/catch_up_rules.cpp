#include "master/core/admission/catch_up_rules.h"

#include <fmt/format.h>

#include "master/core/admission/dispatch_rules.h"
#include "master/core/admission/firing.h"
#include "master/core/admission/quota_rules.h"

namespace rota::master::core {
namespace {

constexpr int kJobsLookedAt = 64;

/// It would have to wait for no other run of its job. It ends none either, whatever the overlap says.
bool is_free(const JobEntry& job) { return has_place(job.rules(), job.under_way()); }

/// Nothing is kept for it, so it has to have room for all that it takes.
bool has_slots(const State& state, const JobEntry& job, std::int32_t slots) {
  return !lacks_room(state.quotas(), model::QuotaOf::Space, job.row.space(), slots);
}

/// A run that may start now, in a place where a slot is free; null: none.
RunEntry* next_of(State& state, CatchUpPool& pool, bool& looked_at_all) {
  for (auto& [key, queue] : pool.queues) {
    if (state.quotas().is_full(model::QuotaOf::Pool, key.pool)) return nullptr;
    const std::int32_t slots = key.demand.slots;
    if (slots > 1 && lacks_room(state.quotas(), model::QuotaOf::Pool, key.pool, slots)) continue;
    if (!state.workers().may_serve(key)) continue;
    const auto may_start = [&state, slots](JobId id) {
      const JobEntry& job = *state.find_job(id);
      return is_free(job) && has_slots(state, job, slots);
    };
    const RunId id = queue.pass_turn(kJobsLookedAt, may_start);
    if (id != RunId{}) return state.find_run(id);
    looked_at_all = looked_at_all && queue.jobs() <= kJobsLookedAt;
  }
  return nullptr;
}

/// What keeps a run from its turn ends with an event, after which this is called again; only time does not.
void start_in(Context& ctx, CatchUpPool& pool) {
  State& state = ctx.state;
  while (pool.size > 0 && pool.pace.may_start(ctx.now.mono)) {
    bool looked_at_all = true;
    RunEntry* run = next_of(state, pool, looked_at_all);
    pool.wake.reset();
    if (run == nullptr) {
      if (!looked_at_all) pool.wake = ctx.now.mono + Millis{1};
      return;
    }
    pool.pace.note_start(ctx.now.mono, state.options().catch_up_rate);
    ++state.counters().caught_up;
    state.enter_slot_queue(*run);
    state.touch(*run);
    pump_slot_queues(ctx);
  }
  if (pool.size > 0) pool.wake = pool.pace.next();
}

}  // namespace

void start_caught_up(Context& ctx) {
  if (ctx.state.catch_up().empty() || ctx.state.awaits_inventories()) return;
  for (auto& [name, pool] : ctx.state.catch_up().pools()) {
    if (pool.size > 0) start_in(ctx, pool);
  }
}

CatchUpWait why_not_caught_up(const State& state, const RunEntry& run) {
  const SlotQueueKey key = slot_queue_of(run);
  const std::int32_t rate = state.options().catch_up_rate;
  const std::size_t waiting = state.catch_up().pools().at(key.pool).size;
  const std::size_t left = (waiting + static_cast<std::size_t>(rate) - 1) / static_cast<std::size_t>(rate);
  const std::string at_rate = fmt::format("caught up at {} a second", rate);
  const JobEntry& job = run.job();
  const bool is_full = lacks_room(state.quotas(), model::QuotaOf::Pool, key.pool, key.demand.slots);
  if (is_full || !has_slots(state, job, key.demand.slots)) {
    const auto reason = is_full ? model::Reason::PoolLimit : model::Reason::NamespaceSlots;
    return {reason, quota_words(state, run, reason)};
  }
  if (!state.workers().may_serve(key)) {
    return {blocked_reason(state, key), fmt::format("then {}, {} wait in the pool", at_rate, waiting)};
  }
  if (!is_free(job)) return {model::Reason::WaitsForRun, std::to_string(blocking_run(job).value)};
  return {model::Reason::CaughtUp,
          fmt::format("{}: about {} s left for the {} that wait", at_rate, left, waiting)};
}

}  // namespace rota::master::core
