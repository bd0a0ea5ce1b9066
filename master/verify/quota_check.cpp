#include "master/verify/quota_check.h"

#include <algorithm>
#include <limits>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace

void QuotaCheck::learn(const model::JobVersionRow& version) {
  JobVersion& newest = newest_[version.job];
  newest = std::max(newest, version.version);
  if (version.definition == nullptr) return;
  const model::JobRules& rules = version.definition->rules;
  pools_[version.job][version.version] = {rules.pool, rules.slots};
}

Result<void> QuotaCheck::look_at(const model::Run& run, const std::vector<Span>& spans) {
  const auto job = pools_.find(run.job);
  const OfVersion* own = nullptr;
  if (job != pools_.end() && run.version <= newest_.at(run.job)) {
    const auto later = job->second.upper_bound(run.version);
    if (later != job->second.begin()) own = &std::prev(later)->second;
  }
  const std::int32_t slots = own == nullptr ? 1 : own->slots;
  const auto looked = look_at_side({model::QuotaOf::Space, run.space}, run, spans, slots);
  if (!looked) return looked;
  return own == nullptr ? Result<void>() : look_at_side({model::QuotaOf::Pool, own->pool}, run, spans, slots);
}

Result<void> QuotaCheck::look_at_side(const Side& side, const model::Run& run,
                                      const std::vector<Span>& spans, std::int32_t slots) {
  auto known = held_of(side);
  if (!known) return fail(known.error());
  const bool has_limits = std::ranges::any_of((*known)->amounts(),
                                              [](const Amount& amount) { return amount.most != kUnlimited; });
  if (!has_limits) return {};
  for (const Span& span : spans) {
    ++check_.planned;
    if (span.worker.empty()) continue;  // its end is a leader's guess
    const auto excess = (*known)->look({span, slots, sent_of(run, span)});
    if (!excess) continue;
    wrong(check_, fmt::format("run {} attempt {}: when run {} began, the runs of {} {} that lived took {} "
                              "more slots than it may have",
                              span.run.value, span.attempt, excess->began.value, model::name_of(side.first),
                              side.second, excess->by));
  }
  return {};
}

/// Before its first limit it had none.
Result<HeldBeside*> QuotaCheck::held_of(const Side& side) {
  const auto known = sides_.find(side);
  if (known != sides_.end()) return &known->second;
  const auto versions = sources_.reader.quota_versions(side.first, side.second);
  if (!versions) return fail(versions.error());
  std::vector<Amount> amounts = {{kUnlimited, WallTime{}, 0}};
  for (const model::QuotaRow& row : *versions) {
    amounts.push_back({row.quota.slots < 0 ? kUnlimited : row.quota.slots, row.changed, row.number});
  }
  return &sides_.emplace(side, HeldBeside(std::move(amounts))).first->second;
}

}  // namespace rota::master::verify
