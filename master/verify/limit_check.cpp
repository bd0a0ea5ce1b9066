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
  if (rules.run_timeout <= Millis{0} && rules.queue_timeout <= Millis{0}) return;
  known_[{version.job, version.version}] = {rules.run_timeout, rules.queue_timeout,
                                            longest_jitter(rules.schedule)};
}

void LimitCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const auto found = known_.find({run.job, run.version});
  if (found == known_.end()) return;
  ++check_.planned;
  const Limits& limits = found->second;
  const std::vector<Begin> begins = begins_of(run, earlier);
  if (begins.empty()) return;
  // By their numbers: a later attempt has an earlier time when the clock of its Term had been set back.
  const WallTime first = std::ranges::min(begins, {}, &Begin::attempt).at;
  const WallTime fired = run.recorded + limits.jitter;
  if (limits.queue > Millis{0} && first >= fired + limits.queue + kForeignClock) {
    wrong(check_, fmt::format("run {}: its first attempt began {} after it fired, its job allows {} "
                              "(timeout.queue)", run.id.value, format_duration(first - run.recorded),
                              format_duration(limits.queue)));
  }
  for (const Begin& begin : begins) {
    if (limits.run <= Millis{0} || begin.at < first + limits.run + kForeignClock) continue;
    wrong(check_, fmt::format("run {} attempt {} began {} after the first, its job allows a run {} "
                              "(timeout.run)", run.id.value, begin.attempt, format_duration(begin.at - first),
                              format_duration(limits.run)));
  }
}

}  // namespace rota::master::verify
