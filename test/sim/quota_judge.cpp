#include "quota_judge.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>

namespace rota::sim {
namespace {

using model::QuotaOf;

/// Before the batch; null: nothing was ever set.
const model::Quota* quota_before(const SimTables& tables, const std::string& space) {
  const auto behind = tables.quotas.upper_bound({QuotaOf::Space, space, std::numeric_limits<std::int32_t>::max()});
  if (behind == tables.quotas.begin()) return nullptr;
  const model::QuotaRow& row = std::prev(behind)->second;
  return row.of == QuotaOf::Space && row.name == space ? &row.quota : nullptr;
}

std::int64_t minute_judged(const model::Run& run) {
  const WallTime at = run.tick.value_or(run.recorded);
  return std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count();
}

}  // namespace

std::string QuotaJudge::judge_new_runs(const SimTables& tables, const master::core::Changes& changes) {
  for (const model::Run& run : changes.new_runs) {
    if (run.progress.state == model::RunState::Skipped || tables.runs.contains(run.id)) continue;
    const model::Quota* quota = quota_before(tables, run.space);
    // In the batch of a change nobody knows which of them was first.
    const bool changes_now = std::ranges::any_of(changes.quotas, [&](const auto& row) {
      return row.of == QuotaOf::Space && row.name == run.space;
    });
    if (quota == nullptr || quota->firings < 0 || changes_now) continue;
    const std::int64_t fired = ++fired_[{run.space, run.id.value >> kIdCounterBits, minute_judged(run)}];
    if (fired > quota->firings) {
      return "P42: " + std::to_string(fired) + " runs of namespace " + run.space + " begin in one minute, of " +
             std::to_string(quota->firings);
    }
  }
  // The leader forgets its counts where there is no limit.
  for (const model::QuotaRow& row : changes.quotas) {
    if (row.of != QuotaOf::Space || row.quota.firings >= 0) continue;
    std::erase_if(fired_, [&](const auto& each) { return std::get<0>(each.first) == row.name; });
  }
  return "";
}

}  // namespace rota::sim
