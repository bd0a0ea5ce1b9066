#include "child_judge.h"

#include <algorithm>

namespace rota::sim {

using model::ChildRow;
using model::RunState;

namespace {

std::string told_at(const char* what, RunId run) { return "P49: " + std::string(what) + ", run " + std::to_string(run.value); }

const model::JobRules* rules_by_version(const SimTables& tables, const model::Run& run) {
  for (JobVersion version = run.version; version > 0; --version) {
    const auto row = tables.versions.find({run.job, version});
    if (row != tables.versions.end() && row->second.definition) return &row->second.definition->rules;
  }
  return nullptr;
}

std::set<std::string> due_of(const SimTables& tables, const model::Run& run) {
  std::set<std::string> due;
  const model::JobRules* rules = rules_by_version(tables, run);
  if (rules == nullptr) return due;
  const auto add = [&due](const std::vector<std::string>& names) { due.insert(names.begin(), names.end()); };
  switch (run.progress.state) {
    case RunState::Succeeded: add(rules->on_success); break;
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::Lost:
    case RunState::KillFailed: add(rules->on_failure); break;
    case RunState::Cancelled:
    case RunState::Killed: break;
    default: return due;
  }
  add(rules->on_end);
  return due;
}

}  // namespace

void draw_children(model::JobRules& rules, const std::vector<model::JobDefinition>& jobs, std::size_t own, Random& dice) {
  rules.on_success.clear();
  rules.on_failure.clear();
  rules.on_end.clear();
  if (own + 1 >= jobs.size() || !dice.chance(35)) return;
  const std::size_t behind = jobs.size() - own - 1;
  std::vector<std::string>* const lists[] = {&rules.on_success, &rules.on_failure, &rules.on_end};
  std::set<std::string> named;
  for (std::int64_t wanted = 1 + dice.below(2); wanted > 0; --wanted) {
    const std::string& name = jobs[own + 1 + dice.index(behind)].name;
    if (named.insert(name).second) lists[dice.below(3)]->push_back(name);
  }
}

std::string ChildJudge::judge_batch(const SimTables& tables, const master::core::Changes& changes,
                                    std::set<RunId> ended) {
  for (const model::Run& run : changes.new_runs) {  // some begin and end in one batch
    if (model::is_final(run.progress.state)) ended.insert(run.id);
  }
  for (const model::OwedChildren& row : changes.children_owed) {
    marks_.hit("children_owed");
    owed_.insert(row.parent);
  }
  std::set<RunId> named;
  for (const ChildRow& row : changes.children) {
    if (row.run != RunId{}) named.insert(row.run);
    if (std::string wrong = judge_row(tables, row, ended); !wrong.empty()) return wrong;
  }
  for (const model::Run& run : changes.new_runs) {
    if (run.kind == model::RunKind::Child && !named.contains(run.id)) return told_at("a child begins without a cause", run.id);
  }
  for (const RunId id : ended) {
    if (std::string wrong = judge_end(tables, changes, tables.runs.at(id)); !wrong.empty()) return wrong;
  }
  for (const RunId parent : changes.children_done) {
    const auto due = due_of(tables, tables.runs.at(parent));
    const bool has_all = std::ranges::all_of(due, [&](const auto& name) { return first_.contains({parent, name}); });
    if (!has_all) return told_at("children that were owed are forgotten", parent);
  }
  return "";
}

std::string ChildJudge::judge_end(const SimTables& tables, const master::core::Changes& changes,
                                  const model::Run& run) {
  const auto due = due_of(tables, run);
  const auto owed = std::ranges::find(changes.children_owed, run.id, &model::OwedChildren::parent);
  std::set<std::string> found;
  for (const ChildRow& row : changes.children) {
    if (row.parent == run.id) found.insert(row.name);
  }
  if (owed != changes.children_owed.end()) {
    for (const model::NamedChild& child : owed->children) found.insert(child.name);
  }
  return found == due ? "" : told_at("an end begins other children than its version names", run.id);
}

std::string ChildJudge::judge_row(const SimTables& tables, const ChildRow& row, const std::set<RunId>& ended) {
  const auto parent = tables.runs.find(row.parent);
  const bool has_ended = parent != tables.runs.end() && model::is_final(parent->second.progress.state);
  if (!has_ended) return told_at("a child begins before its parent's end", row.parent);
  const auto [first, is_new] = first_.emplace(Key{row.parent, row.name}, row);
  if (!is_new) return first->second == row ? "" : told_at("a child begins twice", row.parent);
  const auto owed = owed_.find(row.parent);
  if (!ended.contains(row.parent) && owed == owed_.end()) return told_at("a child that was not owed comes late", row.parent);
  if (owed != owed_.end()) marks_.hit("owed_child_begun");
  const auto above = by_run_.find(row.parent);
  const std::int32_t depth = above == by_run_.end() ? 1 : above->second.depth + 1;
  const RunId root = above == by_run_.end() ? row.parent : above->second.root;
  if (row.depth != depth || row.root != root) return told_at("a child stands at another place of its tree", row.parent);
  if (row.ended != parent->second.progress.state) return told_at("a child is told another end", row.parent);
  if (row.run == RunId{}) return row.reason == model::Reason::NoSuchJob ? "" : told_at("no child, and no reason", row.parent);
  by_run_.emplace(row.run, row);
  const auto child = tables.runs.find(row.run);
  if (child == tables.runs.end()) return told_at("a child's run is not stored", row.parent);
  const model::Run& run = child->second;
  const bool is_its_own = run.kind == model::RunKind::Child && run.request_key == model::child_key(row.parent, row.name);
  if (!is_its_own) return told_at("a child's run is another one", row.run);
  if (run.scheduled != parent->second.tick.value_or(parent->second.scheduled)) return told_at("another logical time", row.run);
  marks_.hit(run.progress.state == RunState::Skipped ? "child_skipped" : depth > 1 ? "grandchild_begun" : "child_begun");
  if (run.progress.reason == model::Reason::JobPaused) marks_.hit("child_of_a_paused_job");
  if (row.ended != RunState::Succeeded) marks_.hit("child_of_a_failure");
  return "";
}

}  // namespace rota::sim
