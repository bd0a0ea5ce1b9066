#include "master/verify/limit_check.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/model/entry_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

/// An attempt that a restored database had forgotten is dated by its worker's clock.
constexpr Millis kForeignClock{60'000};

struct Begin {
  AttemptNo attempt = 0;
  WallTime at{};
};

std::vector<Begin> begins_of(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  std::vector<Begin> out;
  for (const model::AttemptRow& row : earlier) {
    if (row.dispatched) out.push_back({row.attempt, *row.dispatched});
  }
  const model::RunProgress& at = run.progress;
  const bool has_row = std::ranges::any_of(out, [&](const Begin& one) { return one.attempt == at.attempt; });
  if (at.attempt > 0 && at.dispatched && !has_row) out.push_back({at.attempt, *at.dispatched});
  return out;
}

/// What may have been in force at that moment, by whatever clock.
std::vector<model::Quota> in_force(const std::vector<model::QuotaRow>& versions, WallTime at) {
  std::vector<model::Quota> out;
  for (auto each = versions.rbegin(); each != versions.rend(); ++each) {
    if (each->changed > at + kForeignClock) continue;
    out.push_back(each->quota);
    if (each->changed < at - kForeignClock) return out;
  }
  out.emplace_back();  // before the first of them
  return out;
}

/// 0: one of them allows any time.
Millis most_of(Millis own, const std::vector<model::Quota>& defaults, Millis model::Quota::*member) {
  if (own > Millis{0} || defaults.empty()) return own;
  Millis most{0};
  for (const model::Quota& quota : defaults) {
    if (quota.*member <= Millis{0}) return Millis{0};
    most = std::max(most, quota.*member);
  }
  return most;
}

}  // namespace

Millis longest_jitter(const model::Schedule& schedule) {
  Millis longest{0};
  for (const std::string& line : schedule.entries) {
    if (const auto entry = model::entry_from_text(line)) longest = std::max(longest, entry->jitter);
  }
  return longest;
}

void LimitCheck::learn(const model::JobVersionRow& version) {
  if (!version.definition) return;
  const model::JobRules& rules = version.definition->rules;
  known_[{version.job, version.version}] = {rules.run_timeout, rules.queue_timeout,
                                            longest_jitter(rules.schedule)};
}

Result<const LimitCheck::Defaults*> LimitCheck::defaults_of(const std::string& space) {
  const auto known = defaults_.find(space);
  if (known != defaults_.end()) return &known->second;
  auto versions = reader_.quota_versions(model::QuotaOf::Space, space);
  if (!versions) return fail(versions.error());
  const bool has_times = std::ranges::any_of(*versions, [](const model::QuotaRow& row) {
    return row.quota.run_timeout > Millis{0} || row.quota.queue_timeout > Millis{0};
  });
  return &defaults_.emplace(space, has_times ? std::move(*versions) : Defaults{}).first->second;
}

Result<void> LimitCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const auto found = known_.find({run.job, run.version});
  if (found == known_.end()) return {};
  const Limits& own = found->second;
  const auto defaults = defaults_of(run.space);
  if (!defaults) return fail(defaults.error());
  if (own.run <= Millis{0} && own.queue <= Millis{0} && (*defaults)->empty()) return {};
  ++check_.planned;
  judge(run, own, **defaults, earlier);
  return {};
}

void LimitCheck::judge(const model::Run& run, const Limits& own, const Defaults& defaults,
                       const std::vector<model::AttemptRow>& earlier) {
  const std::vector<Begin> begins = begins_of(run, earlier);
  if (begins.empty()) return;
  // By their numbers: a later attempt has an earlier time when the clock of its Term had been set back.
  const WallTime first = std::ranges::min(begins, {}, &Begin::attempt).at;
  const WallTime fired = run.recorded + own.jitter;
  const auto limit_at = [&](WallTime at, Millis said, Millis model::Quota::*member) {
    return most_of(said, defaults.empty() ? std::vector<model::Quota>{} : in_force(defaults, at), member);
  };
  const Millis queue = limit_at(first, own.queue, &model::Quota::queue_timeout);
  if (queue > Millis{0} && first >= fired + queue + kForeignClock) {
    wrong(check_, fmt::format("run {}: its first attempt began {} after it fired, {} allows {} "
                              "(timeout.queue)", run.id.value, format_duration(first - run.recorded),
                              own.queue > Millis{0} ? "its job" : "its namespace", format_duration(queue)));
  }
  for (const Begin& begin : begins) {
    const Millis most = limit_at(begin.at, own.run, &model::Quota::run_timeout);
    if (most <= Millis{0} || begin.at < first + most + kForeignClock) continue;
    wrong(check_, fmt::format("run {} attempt {} began {} after the first, {} allows a run {} "
                              "(timeout.run)", run.id.value, begin.attempt, format_duration(begin.at - first),
                              own.run > Millis{0} ? "its job" : "its namespace", format_duration(most)));
  }
}

}  // namespace rota::master::verify
