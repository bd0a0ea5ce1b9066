#include "master/core/admission/quota_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/notices.h"
#include "master/core/workers/scale_desk.h"

namespace rota::master::core {

using model::QuotaOf;
using model::Reason;

namespace {

std::string side_named(QuotaOf of, const std::string& name) {
  return fmt::format("{} '{}'", model::name_of(of), shown_text(name));
}

std::string limit_text(std::int64_t limit) {
  return limit == model::kNoLimit ? "none" : std::to_string(limit);
}

std::string time_text(Millis time) { return time <= Millis{0} ? "none" : format_duration(time); }

bool refuse_stale_quota(Context& ctx, const SetQuota& event, std::int32_t present) {
  if (!event.expected_version || *event.expected_version == present) return false;
  reply(ctx, event.token,
        Error(ErrorCode::Conflict,
              fmt::format("the limits of {} have version {}, the change was made from version {}; read "
                          "them again (rota {} show)",
                          side_named(event.of, event.name), present, *event.expected_version,
                          model::name_of(event.of))));
  return true;
}

model::Quota changed_quota(model::Quota quota, const SetQuota& event) {
  quota.slots = event.slots.value_or(quota.slots);
  quota.weight = event.weight.value_or(quota.weight);
  quota.jobs = event.jobs.value_or(quota.jobs);
  quota.unfinished = event.unfinished.value_or(quota.unfinished);
  quota.firings = event.firings.value_or(quota.firings);
  quota.timeout = event.timeout.value_or(quota.timeout);
  quota.run_timeout = event.run_timeout.value_or(quota.run_timeout);
  quota.queue_timeout = event.queue_timeout.value_or(quota.queue_timeout);
  quota.min_workers = event.min_workers.value_or(quota.min_workers);
  quota.max_workers = event.max_workers.value_or(quota.max_workers);
  quota.hook = event.hook.value_or(quota.hook);
  return quota;
}

void tell_quota(Context& ctx, const model::QuotaRow& row) {
  const bool is_pool = row.of == QuotaOf::Pool;
  NoticeKeys keys = {{std::string(model::name_of(row.of)), row.name},
                     {is_pool ? "limit" : "max_slots", limit_text(row.quota.slots)}};
  if (is_pool) {
    keys.emplace_back("min_workers", limit_text(row.quota.min_workers));
    keys.emplace_back("max_workers", limit_text(row.quota.max_workers));
    keys.emplace_back("hook", row.quota.hook.empty() ? "none" : row.quota.hook);
  } else {
    keys.emplace_back("weight", std::to_string(row.quota.weight));
    keys.emplace_back("max_jobs", limit_text(row.quota.jobs));
    keys.emplace_back("max_unfinished", limit_text(row.quota.unfinished));
    keys.emplace_back("max_firings_per_minute", limit_text(row.quota.firings));
    keys.emplace_back("timeout", time_text(row.quota.timeout));
    keys.emplace_back("run_timeout", time_text(row.quota.run_timeout));
    keys.emplace_back("queue_timeout", time_text(row.quota.queue_timeout));
  }
  keys.emplace_back("version", std::to_string(row.version));
  keys.emplace_back("by", row.principal);
  tell(ctx, "limits changed", std::move(keys));
}

std::optional<Error> why_not_so_many(const model::Quota& quota) {
  if (least_workers(quota) <= most_workers(quota)) return std::nullopt;
  return Error(ErrorCode::InvalidArgument,
               fmt::format("min-workers {} is more than max-workers {}; change both together",
                           quota.min_workers, quota.max_workers));
}

/// Anybody may have a turn now who had none, and some line may stand for tokens in vain.
void look_at_all_pools(State& state) {
  for (const auto& [key, queue] : state.slot_queues().all()) state.workers().mark_pool(key.pool);
}

Error limit_reached(const std::string& space, const char* key, std::int64_t limit, const std::string& now,
                    const char* wait) {
  return Error(ErrorCode::LimitReached,
               fmt::format("{} {} of namespace {} is reached: {}; {}, or raise it: rota namespace set {} "
                           "--{} N",
                           key, limit, quoted_text(space), now, wait, shown_text(space), key));
}

}  // namespace

void handle_set_quota(Context& ctx, const SetQuota& event) {
  QuotaTable& quotas = ctx.state.quotas();
  const QuotaTable::Side* side = quotas.find(event.of, event.name);
  const std::int32_t present = side == nullptr ? 0 : side->newest().version;
  if (refuse_stale_quota(ctx, event, present)) return;
  const model::Quota before = quotas.quota(event.of, event.name);
  const model::Quota wanted = changed_quota(before, event);
  if (wanted == before) return reply(ctx, event.token, QuotaApplied{present, false, before});
  auto wrong = why_not_so_many(wanted);
  if (!wrong && event.hook) wrong = why_no_hook(ctx.state, *event.hook);
  if (wrong) return reply(ctx, event.token, std::move(*wrong));
  if (present == 0 && quotas.versions() >= kMostQuotas) {
    return reply(ctx, event.token,
                 Error(ErrorCode::InvalidArgument,
                       fmt::format("{} pools and namespaces have limits already; more are not allowed",
                                   kMostQuotas)));
  }
  model::QuotaRow row;
  row.of = event.of;
  row.name = event.name;
  row.version = present + 1;
  row.quota = wanted;
  row.changed = ctx.at;
  row.number = ctx.state.new_quota_number();
  row.principal = event.principal;
  tell_quota(ctx, row);
  ctx.out.changes.quotas.push_back(row);
  const QuotaApplied applied{row.version, true, wanted};
  if (event.of == QuotaOf::Space) ctx.state.reweigh(event.name, wanted.weight);
  const std::int32_t times_before = quotas.times_now(event.name).version;
  quotas.put(std::move(row));
  const bool has_new_times = quotas.times_now(event.name).version != times_before;
  if (event.of == QuotaOf::Space && has_new_times) watch_limits_of(ctx, event.name);
  look_at_all_pools(ctx.state);
  if (event.of == QuotaOf::Pool) scale_within_limits(ctx, event.name);
  reply(ctx, event.token, applied);
}

bool lacks_room(const QuotaTable& quotas, QuotaOf of, const std::string& name, std::int32_t slots,
                RunId own) {
  if (quotas.versions() == 0) return false;
  const QuotaTable::Side* side = quotas.find(of, name);
  return side != nullptr && !side->has_room(slots, own);
}

namespace {

/// What is kept for one of its own runs is not in its way.
bool queue_lacks_room(const State& state, const SlotQueueKey& key, QuotaOf of, const std::string& name) {
  const QuotaTable::Side* side = state.quotas().find(of, name);
  if (side == nullptr) return false;
  const RunEntry* kept = side->kept_for() == RunId{} ? nullptr : state.find_run(side->kept_for());
  const bool is_own = kept != nullptr && kept->in_slot_queue() && slot_queue_of(*kept) == key;
  return !side->has_room(key.demand.slots, is_own ? kept->id() : RunId{});
}

}  // namespace

bool is_held_back(const State& state, const SlotQueueKey& key) {
  const QuotaTable& quotas = state.quotas();
  if (quotas.versions() == 0) return false;
  if (queue_lacks_room(state, key, QuotaOf::Pool, key.pool)) return true;
  const SlotQueue* queue = state.slot_queues().find(key);
  return queue != nullptr && std::ranges::all_of(queue->turns(), [&](const auto& each) {
    return queue_lacks_room(state, key, QuotaOf::Space, std::string(each.first));
  });
}

Reason why_queued(const State& state, const RunEntry& run) {
  const std::int32_t slots = run.rules().slots;
  const QuotaTable& quotas = state.quotas();
  if (lacks_room(quotas, QuotaOf::Pool, run.rules().pool, slots, run.id())) return Reason::PoolLimit;
  const std::string& space = run.job().row.space();
  if (lacks_room(quotas, QuotaOf::Space, space, slots, run.id())) return Reason::NamespaceSlots;
  return state.slot_queues().blocked(run);
}

std::string quota_words(const State& state, const RunEntry& run, Reason reason) {
  if (reason != Reason::PoolLimit && reason != Reason::NamespaceSlots) return {};
  const bool is_pool = reason == Reason::PoolLimit;
  const std::string& name = is_pool ? run.rules().pool : run.job().row.space();
  const QuotaTable::Side* side = state.quotas().find(is_pool ? QuotaOf::Pool : QuotaOf::Space, name);
  if (side == nullptr) return {};
  const char* limit = is_pool ? "limit" : "max-slots";
  const std::string of = fmt::format("{} {}", is_pool ? "pool" : "namespace", shown_text(name));
  const std::int32_t slots = run.rules().slots;
  if (slots > side->quota().slots) {
    return fmt::format("it takes {} slots, and {} of {} is {}; raise it, or give the job less slots", slots,
                       limit, of, side->quota().slots);
  }
  const bool is_others = side->kept_for() != RunId{} && side->kept_for() != run.id();
  const std::string kept =
      is_others ? fmt::format("; what becomes free is kept for run {}", side->kept_for().value) : "";
  const std::string own = slots == 1 ? "" : fmt::format(", it takes {}", slots);
  return fmt::format("{} {} of {} is reached, {} running, {} wait{}{}", limit, side->quota().slots, of,
                     side->held(), side->queued(), own, kept);
}

std::int64_t firings_left(const State& state, const std::string& space, WallTime minute_of) {
  constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();
  if (state.quotas().versions() == 0) return kMany;
  const QuotaTable::Side* side = state.quotas().find(QuotaOf::Space, space);
  if (side == nullptr) return kMany;
  const model::Quota& quota = side->quota();
  const std::int64_t unfinished = quota.unfinished < 0 ? kMany : quota.unfinished - side->unfinished();
  const std::int64_t firings = quota.firings < 0 ? kMany : quota.firings - side->fired_in(minute_of);
  return std::max<std::int64_t>(std::min(unfinished, firings), 0);
}

Reason why_no_firing(const State& state, const std::string& space, WallTime minute_of) {
  if (firings_left(state, space, minute_of) > 0) return Reason::None;
  const QuotaTable::Side& side = *state.quotas().find(QuotaOf::Space, space);
  const std::int64_t most = side.quota().unfinished;
  return most >= 0 && side.unfinished() >= most ? Reason::NamespaceUnfinished : Reason::NamespaceFirings;
}

std::optional<Error> why_no_run(const State& state, const std::string& space, WallTime at) {
  const Reason reason = why_no_firing(state, space, at);
  if (reason == Reason::None) return std::nullopt;
  const QuotaTable::Side& side = *state.quotas().find(QuotaOf::Space, space);
  if (reason == Reason::NamespaceUnfinished) {
    return limit_reached(space, "max-unfinished", side.quota().unfinished,
                         fmt::format("{} runs are unfinished", side.unfinished()),
                         "try again when some have ended");
  }
  return limit_reached(space, "max-firings-per-minute", side.quota().firings,
                       fmt::format("{} runs began in this minute", side.fired_in(at)),
                       "try again in the next minute");
}

std::string skipped_words(const State& state, const std::string& space, Reason reason) {
  const model::Quota& quota = state.quotas().quota(QuotaOf::Space, space);
  const bool is_unfinished = reason == Reason::NamespaceUnfinished;
  return fmt::format("{}: {}", is_unfinished ? "max-unfinished" : "max-firings-per-minute",
                     is_unfinished ? quota.unfinished : quota.firings);
}

std::optional<Error> why_no_job(const State& state, const std::string& space) {
  const std::int64_t most = state.quotas().quota(QuotaOf::Space, space).jobs;
  const std::int64_t jobs = state.jobs().named_in(space);
  if (most < 0 || jobs < most) return std::nullopt;
  return limit_reached(space, "max-jobs", most, fmt::format("it has {} jobs", jobs), "delete one first");
}

}  // namespace rota::master::core
