#include "master/core/workers/scale_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/notices.h"
#include "master/core/notify/try_again.h"
#include "master/core/workers/scale_leaving.h"
#include "master/core/workers/scale_rules.h"

namespace rota::master::core {

using model::HookState;
using model::QuotaOf;
using model::ScaleChange;
using model::ScaleReason;

namespace {

constexpr Millis kForgetChangesEvery = std::chrono::hours{1};

const model::Quota& pool_quota(const State& state, const std::string& pool) {
  return state.quotas().quota(QuotaOf::Pool, pool);
}

ScaleLimits scale_limits(const State& state, const model::Quota& quota) {
  const model::Settings& settings = state.options();
  return {least_workers(quota), most_workers(quota), settings.scale_up_percent, settings.scale_down_percent,
          settings.scale_cool_down};
}

// --- rows

void replace_open(Context& ctx, PoolScale& scale) {
  if (!scale.newest || scale.newest->state != HookState::Open) return;
  scale.newest->state = HookState::Replaced;
  scale.newest->settled = ctx.at;
  ctx.out.changes.scaling.push_back(*scale.newest);
}

void write_row(Context& ctx, const std::string& pool, PoolScale& scale, std::int64_t before,
               ScaleReason reason) {
  replace_open(ctx, scale);
  ScaleChange row;
  row.id = ctx.state.new_scale_number();
  row.pool = pool;
  row.before = before;
  row.after = scale.wanted;
  row.present = scale.here;
  row.reason = reason;
  row.hook = pool_quota(ctx.state, pool).hook;
  row.stoppable = stoppable_in(ctx.state, pool);
  row.leaving = std::max<std::int64_t>(scale.leaving - static_cast<std::int64_t>(row.stoppable.size()), 0);
  row.made = ctx.at;
  row.state = row.hook.empty() ? HookState::NoHook : HookState::Open;
  if (row.state != HookState::Open) row.settled = ctx.at;
  tell(ctx, "workers wanted",
       {{"pool", pool},
        {"before", std::to_string(before)},
        {"wanted", std::to_string(row.after)},
        {"present", std::to_string(row.present)},
        {"reason", std::string(name_of(reason))},
        {"stoppable", std::to_string(row.stoppable.size())}});
  ++ctx.state.counters().scale_changes;
  ctx.out.changes.scaling.push_back(row);
  scale.newest = std::move(row);
  scale.due = ctx.now.mono;
}

void send_call(Context& ctx, PoolScale& scale) {
  const bool may = scale.newest && scale.newest->state == HookState::Open && !scale.flying;
  if (!may || scale.due > ctx.now.mono) return;
  scale.flying = scale.newest;
  ctx.out.hook_calls.push_back(*scale.newest);
}

void change_wanted(Context& ctx, const std::string& pool, PoolScale& scale, const ScaleWish& wish) {
  const std::int64_t before = std::exchange(scale.wanted, wish.wanted);
  scale.changed = ctx.at;
  scale.went_down = wish.wanted < before;
  if (is_scaled(pool_quota(ctx.state, pool))) write_row(ctx, pool, scale, before, wish.reason);
}

// --- one pool

PoolLoad pool_load(Context& ctx, const std::string& pool, PoolScale& scale) {
  const QuotaTable::Side* side = ctx.state.quotas().find(QuotaOf::Pool, pool);
  const Standing standing = ctx.state.workers().standing_in(pool);
  const LeavingCount leaving = count_leaving(ctx.state, pool);
  scale.leaving = leaving.here;
  std::int64_t asked = side == nullptr ? 0 : side->held() + side->queued() - leaving.slots;
  if (side != nullptr && side->quota().slots >= 0) asked = std::min(asked, side->quota().slots);
  const auto demand = static_cast<double>(std::max<std::int64_t>(asked, 0));
  const Millis passed = floor_ms(ctx.now.mono - scale.looked);
  scale.demand =
      scale.is_known ? averaged(scale.demand, demand, passed, ctx.state.options().scale_average) : demand;
  scale.looked = ctx.now.mono;
  scale.here = std::max<std::int64_t>(standing.present - scale.leaving, 0);
  PoolLoad load;
  load.demand = scale.demand;
  load.is_idle = asked <= 0;
  load.has_waiting = side != nullptr && side->queued() > 0 && side->quota().slots != 0;
  load.slots = standing.slots;
  load.accepting = standing.accepting;
  load.registering = std::max(standing.present - standing.reconciled, 0);
  load.here = scale.here;
  load.drained = drained_by_others(ctx.state, pool);
  load.per_worker = scale.per_worker;
  scale.per_worker = slots_per_worker(load);
  scale.load = load.slots <= 0 ? 0 : load.demand / static_cast<double>(load.slots);
  return load;
}

/// Before any row: what is there, so that nobody leaves in the moment in which a pool gets its hook.
void begin_pool(Context& ctx, const std::string& pool, PoolScale& scale) {
  const bool is_first = !scale.is_known || !scale.is_scaled;
  scale.is_scaled = is_scaled(pool_quota(ctx.state, pool));
  if (scale.newest || !is_first || (scale.is_known && !scale.is_scaled)) return;
  const std::int64_t present = ctx.state.workers().standing_in(pool).present;
  scale.here = std::max<std::int64_t>(present - count_leaving(ctx.state, pool).here, 0);
  scale.wanted = scale.here;
  scale.changed = ctx.at;
  scale.went_down = true;
}

void follow_hook(Context& ctx, const std::string& pool, PoolScale& scale) {
  const std::string& hook = pool_quota(ctx.state, pool).hook;
  const std::int64_t usable = scale.here - drained_by_others(ctx.state, pool);
  const bool has_another = scale.newest ? scale.newest->hook != hook : !hook.empty();
  if (hook.empty()) {
    take_workers_back(ctx, pool, ctx.state.scaling().leaving().size());
  } else if (usable > scale.wanted) {
    let_workers_go(ctx, pool, static_cast<std::size_t>(usable - scale.wanted));
  } else if (usable < scale.wanted) {
    take_workers_back(ctx, pool, static_cast<std::size_t>(scale.wanted - usable));
  }
  if (!hook.empty()) name_drained(ctx, pool);
  if (has_another) return write_row(ctx, pool, scale, scale.wanted, ScaleReason::Hook);
  if (hook.empty() || !names_others(ctx.state, pool, scale)) return;
  write_row(ctx, pool, scale, scale.wanted, ScaleReason::Drained);
}

void look_at(Context& ctx, const std::string& pool, PoolScale& scale) {
  const ScaleLimits limits = scale_limits(ctx.state, pool_quota(ctx.state, pool));
  const PoolLoad load = pool_load(ctx, pool, scale);
  begin_pool(ctx, pool, scale);
  const Millis at_least = std::max(limits.cool_down, ctx.state.options().scale_average);
  if (!scale.is_known) scale.may_fall = ctx.now.mono + at_least;
  scale.is_known = true;
  const bool may_fall = ctx.now.mono >= scale.may_fall;
  const ScaleBefore before{scale.wanted, scale.changed, scale.went_down, may_fall};
  const ScaleWish wish = wish_for(load, limits, before, ctx.at);
  scale.reason = wish.reason;
  if (wish.wanted != scale.wanted) change_wanted(ctx, pool, scale, wish);
  follow_hook(ctx, pool, scale);
  send_call(ctx, scale);
}

/// Whether somebody wants the numbers, so that time alone makes the leader look.
void note_whether_wanted(State& state) {
  ScaleTable& table = state.scaling();
  const auto is_set = [](const auto& each) { return is_scaled(each.second.quota()); };
  table.is_wanted =
      !table.leaving().empty() || std::ranges::any_of(state.quotas().all(QuotaOf::Pool), is_set);
}

std::set<std::string> pools_to_look_at(const State& state) {
  std::set<std::string> pools;
  for (const auto& [name, side] : state.quotas().all(QuotaOf::Pool)) pools.insert(name);
  for (const auto& [name, standing] : state.workers().standings()) pools.insert(name);
  for (const auto& [id, worker] : state.scaling().leaving()) {
    if (!worker.pool.empty()) pools.insert(worker.pool);
  }
  return pools;
}

/// Settled rows go by age, the newest of each pool aside. Deletion waits while the clock is in doubt.
void forget_old_changes(Context& ctx) {
  ScaleTable& table = ctx.state.scaling();
  if (ctx.state.ticks().are_held() || !table.forget_due(ctx.now.mono, kForgetChangesEvery)) return;
  ForgetScaling forget;
  forget.before = ctx.at - ctx.state.options().keep_scaling;
  for (const auto& [pool, scale] : table.pools()) {
    if (scale.newest && scale.newest->made < forget.before) forget.except.push_back(scale.newest->id);
  }
  if (std::ranges::any_of(table.pools(), [](const auto& each) { return each.second.newest.has_value(); })) {
    ctx.out.changes.forget_scaling = std::move(forget);
  }
}

void settle_change(Context& ctx, ScaleChange& row, HookState state) {
  row.state = state;
  row.settled = ctx.at;
  ctx.out.changes.scaling.push_back(row);
}

void note_refusal(Context& ctx, PoolScale& scale, const std::string& error) {
  ScaleChange& row = *scale.newest;
  row.last_error = clean_text(error, model::kMaxHookError);
  ++ctx.state.counters().hook_refusals;
  if (row.attempts < ctx.state.options().scale_tries) {
    scale.due = ctx.now.mono + pause_before_try(row.attempts);
    return ctx.out.changes.scaling.push_back(row);
  }
  ++ctx.state.counters().hooks_given_up;
  warn(ctx, "a hook was called too often, and is given up until the number changes",
       {{"pool", row.pool}, {"hook", row.hook}, {"why", row.last_error}});
  settle_change(ctx, row, HookState::GivenUp);
}

}  // namespace

std::int64_t least_workers(const model::Quota& quota) {
  if (quota.min_workers >= 0) return quota.min_workers;
  return std::min<std::int64_t>(1, most_workers(quota));
}
std::int64_t most_workers(const model::Quota& quota) {
  return quota.max_workers >= 0 ? quota.max_workers : model::kMaxPoolWorkers;
}
bool is_scaled(const model::Quota& quota) {
  return quota.min_workers >= 0 || quota.max_workers >= 0 || !quota.hook.empty();
}

void scale_pools(Context& ctx) {
  ScaleTable& table = ctx.state.scaling();
  if (!ctx.state.listings().is_listed() || !table.look_due(ctx.now.mono, kLookAtPools)) return;
  follow_all_leaving(ctx);
  const std::set<std::string> pools = pools_to_look_at(ctx.state);
  std::erase_if(table.pools(), [&](const auto& each) {
    return !pools.contains(each.first) && !each.second.newest && !each.second.flying;
  });
  for (const std::string& pool : pools) look_at(ctx, pool, table.pools()[pool]);
  note_whether_wanted(ctx.state);
  forget_old_changes(ctx);
}

void scale_within_limits(Context& ctx, const std::string& pool) {
  if (is_scaled(pool_quota(ctx.state, pool))) ctx.state.scaling().is_wanted = true;
  const auto found = ctx.state.scaling().pools().find(pool);
  if (found == ctx.state.scaling().pools().end() || !found->second.is_known) return;
  PoolScale& scale = found->second;
  begin_pool(ctx, pool, scale);
  const ScaleLimits limits = scale_limits(ctx.state, pool_quota(ctx.state, pool));
  const std::int64_t wanted = std::clamp(scale.wanted, limits.least, limits.most);
  if (wanted == scale.wanted) return;
  scale.reason = wanted > scale.wanted ? ScaleReason::Minimum : ScaleReason::Maximum;
  change_wanted(ctx, pool, scale, {wanted, scale.reason});
}

void scale_after_death(Context& ctx, const std::string& worker) {
  const DepartedWorker* departed = ctx.state.departed().find(worker);
  if (departed == nullptr || ctx.state.scaling().leaving().contains(worker)) return;
  const std::string& pool = departed->info.pool;
  const auto found = ctx.state.scaling().pools().find(pool);
  const bool is_told = found != ctx.state.scaling().pools().end() && found->second.is_known;
  if (!is_told || pool_quota(ctx.state, pool).hook.empty()) return;
  write_row(ctx, pool, found->second, found->second.wanted, ScaleReason::WorkerDead);
  send_call(ctx, found->second);
}

void handle_hook_called(Context& ctx, const HookCalled& event) {
  const auto found = ctx.state.scaling().pools().find(event.pool);
  if (found == ctx.state.scaling().pools().end()) return;
  PoolScale& scale = found->second;
  if (!scale.flying || scale.flying->id != event.id) return;  // a repeat
  ScaleChange row = *std::exchange(scale.flying, std::nullopt);
  ++ctx.state.counters().hook_calls;
  ++row.attempts;
  if (scale.newest->id != row.id) {    // another one counts by now; what came of this one is kept
    row.last_error = clean_text(event.error, model::kMaxHookError);
    settle_change(ctx, row, event.accepted ? HookState::Delivered : HookState::Replaced);
    return send_call(ctx, scale);
  }
  scale.newest->attempts = row.attempts;
  if (!event.accepted) return note_refusal(ctx, scale, event.error);
  scale.newest->last_error.clear();
  settle_change(ctx, *scale.newest, HookState::Delivered);
}

std::optional<Error> why_no_hook(const State& state, const std::string& hook) {
  const auto& hooks = state.options().hooks;
  if (hook.empty() || std::ranges::find(hooks, hook) != hooks.end()) return std::nullopt;
  return Error(ErrorCode::InvalidArgument,
               fmt::format("hook {}: the leader's settings name no such hook; add it under hooks in "
                           "master.yaml of every master",
                           quoted_text(hook)));
}

std::optional<Error> why_not_resumed(const State& state, const std::string& worker) {
  const auto found = state.scaling().leaving().find(worker);
  if (found == state.scaling().leaving().end() || !found->second.named) return std::nullopt;
  const bool is_ours = drains_for_scale(state, worker);
  const std::string& hook = pool_quota(state, found->second.pool).hook;
  if (!is_ours || (hook.empty() && !may_be_told_of(state, found->second))) return std::nullopt;
  return Error(ErrorCode::Conflict,
               fmt::format("worker '{}' has drained, and hook {} of pool {} may stop it at any moment; "
                           "raise --min-workers of the pool, or take its hook away: rota pool set {} --hook "
                           "none",
                           shown_text(worker), hook.empty() ? "none" : hook, found->second.pool,
                           found->second.pool));
}

void recover_scaling(State& state, std::vector<model::ScaleChange> rows, Now now) {
  ScaleTable& table = state.scaling();
  recover_leaving(state);
  for (ScaleChange& row : rows) {
    PoolScale& scale = table.pools()[row.pool];
    if (scale.newest && scale.newest->id > row.id) continue;
    scale.wanted = row.after;
    scale.changed = row.made;
    scale.went_down = row.after < row.before;
    scale.due = now.mono;
    scale.newest = std::move(row);
  }
  for (const auto& [pool, scale] : table.pools()) {
    for (const model::WorkerKey& key : scale.newest->stoppable) {
      const auto found = table.leaving().find(key.id);
      if (found != table.leaving().end()) found->second.pool = pool;
    }
  }
  note_whether_wanted(state);
}

std::optional<MonoTime> scale_wake(const State& state) {
  const ScaleTable& table = state.scaling();
  if (!state.listings().is_listed()) return std::nullopt;
  if (!table.is_wanted) return std::nullopt;
  return table.looked() ? *table.looked() + kLookAtPools : state.began();
}

}  // namespace rota::master::core
