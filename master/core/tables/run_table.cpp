#include "master/core/tables/run_table.h"

#include "common/base/check.h"

namespace rota::master::core {

RunEntry* RunTable::find(RunId id) {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : &found->second;
}

const RunEntry* RunTable::find(RunId id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : &found->second;
}

RunEntry& RunTable::add(RunEntry entry) {
  const RunId id = entry.id();
  const auto [at, added] = runs_.emplace(id, std::move(entry));
  CHECK_OR_DIE(added, "a run was added twice");
  ++by_state_[at->second.progress().state];
  return at->second;
}

void RunTable::set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail) {
  model::RunProgress& progress = run.row_.progress;
  --by_state_[progress.state];
  ++by_state_[to];
  progress.state = to;
  progress.reason = reason;
  progress.detail = std::move(detail);
  if (model::is_final(to)) timers_.clear_all(run.id());
}

void RunTable::erase(RunId id) {
  const auto found = runs_.find(id);
  CHECK_OR_DIE(found != runs_.end(), "a run that is not known was erased");
  --by_state_[found->second.progress().state];
  runs_.erase(found);
}

}  // namespace rota::master::core
