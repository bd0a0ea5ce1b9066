#include "scale_judge.h"

#include <algorithm>

namespace rota::sim {

using model::HookState;
using model::RunState;
using model::ScaleChange;
using model::ScaleReason;

std::string ScaleJudge::judge_row(const SimTables& tables, const ScaleChange& row) {
  model::Quota quota;                  // the newest that was decided before the row
  std::int64_t newest = 0;
  for (const auto& [key, version] : tables.quotas) {
    const bool counts = version.of == model::QuotaOf::Pool && version.name == row.pool && version.number < row.id;
    if (!counts || version.number < newest) continue;
    newest = version.number;
    quota = version.quota;
  }
  const std::int64_t most = quota.max_workers < 0 ? model::kMaxPoolWorkers : quota.max_workers;
  const std::int64_t least = quota.min_workers < 0 ? std::min<std::int64_t>(1, most) : quota.min_workers;
  if (row.after >= least && row.after <= most) return "";
  return "P47: " + std::to_string(row.after) + " workers are wanted, allowed are " + std::to_string(least) + " to " +
         std::to_string(most);
}

std::string ScaleJudge::judge_batch(const SimTables& tables, const master::core::Changes& changes) {
  for (const ScaleChange& row : changes.scaling) {
    const bool is_new = seen_.insert(row.id).second;
    if (row.attempts > 1) marks_.hit("hook_called_again");
    if (row.state == HookState::Replaced) marks_.hit("scale_change_replaced");
    if (row.state == HookState::Delivered && !obeyed_.contains(row.id)) {
      return "P47: the call " + std::to_string(row.id) + " counts as delivered, unheard";
    }
    if (!is_new) continue;
    if (row.reason == ScaleReason::Load) marks_.hit(row.after > row.before ? "scaled_out" : "scaled_in");
    if (!row.stoppable.empty()) marks_.hit("worker_stoppable");
    if (std::string wrong = judge_row(tables, row); !wrong.empty()) return wrong;
    for (const auto& [id, other] : tables.scaling) {
      if (other.pool == row.pool && other.id < row.id && other.state == HookState::Open) {
        return "P47: the call " + std::to_string(id) + " is open beside a later one";
      }
    }
  }
  return "";
}

std::string ScaleJudge::judge_called(const SimTables& tables, const ScaleChange& row) const {
  if (tables.scaling.contains(row.id) || seen_.contains(row.id)) return "";
  return "P47: the call " + std::to_string(row.id) + " leaves before it is stored";
}

std::string ScaleJudge::judge_stop(const SimTables& tables, const model::WorkerKey& worker) {
  for (const auto& [id, run] : tables.runs) {
    const model::RunProgress& progress = run.progress;
    const bool is_held = progress.state == RunState::Dispatched || progress.state == RunState::Running;
    if (is_held && progress.worker == worker) {
      return "P47: worker " + worker.id + " is stopped while it has run " + std::to_string(id.value);
    }
  }
  return "";
}

}  // namespace rota::sim
