#include "master/verify/child_check.h"

#include <algorithm>

#include "common/base/utf8.h"
#include "master/verify/findings.h"

namespace rota::master::verify {

using model::ChildKey;
using model::ChildRow;
using model::RunState;

namespace {

std::string words_of(RunId run, const std::string& child) {
  return fmt::format("run {}: child {}", run.value, quoted_text(child));
}

bool is_bad_end(RunState state) {
  switch (state) {
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::Lost:
    case RunState::KillFailed: return true;
    default: return false;
  }
}

}  // namespace

void ChildCheck::learn(const model::JobVersionRow& version) {
  const std::pair key{version.job, version.version};
  if (version.definition == nullptr) {
    const auto before = names_.find({version.job, version.version - 1});
    if (before != names_.end()) names_[key] = before->second;
    return;
  }
  const model::JobRules& rules = version.definition->rules;
  if (rules.on_success.empty() && rules.on_failure.empty() && rules.on_end.empty()) return;
  names_[key] = {rules.on_success, rules.on_failure, rules.on_end};
}

void ChildCheck::look_at(const model::Run& run) {
  if (run.kind == model::RunKind::Child) children_.push_back(run);
  if (names_.contains({run.job, run.version})) parents_.push_back(run);
}

ChildCheck::Due ChildCheck::due_after(const Names& names, RunState ended) {
  Due due;
  if (ended == RunState::Succeeded) {
    for (const std::string& name : names.success) due.emplace(name, ChildKey::Success);
  }
  if (is_bad_end(ended)) {
    for (const std::string& name : names.failure) due.emplace(name, ChildKey::Failure);
  }
  if (model::is_final(ended) && ended != RunState::Skipped) {
    for (const std::string& name : names.end) due.emplace(name, ChildKey::End);
  }
  return due;
}

Result<void> ChildCheck::judge_page() {
  if (!parents_.empty()) {
    if (auto judged = judge_parents(); !judged) return judged;
  }
  if (!children_.empty()) {
    if (auto judged = judge_children(); !judged) return judged;
  }
  parents_.clear();
  children_.clear();
  named_.clear();
  return {};
}

Result<ChildCheck::Rows> ChildCheck::rows_of(const std::vector<RunId>& parents) {
  const auto read = sources_.reader.children_of(parents);
  if (!read) return fail(read.error());
  Rows rows;
  for (const ChildRow& row : *read) rows[row.parent].emplace(row.name, row);
  return rows;
}

Result<void> ChildCheck::judge_parents() {
  std::vector<RunId> ids;
  for (const model::Run& run : parents_) ids.push_back(run.id);
  const auto rows = rows_of(ids);
  if (!rows) return fail(rows.error());
  static const std::map<std::string, ChildRow> kNone;
  for (const model::Run& run : parents_) {
    const auto own = rows->find(run.id);
    if (auto judged = judge_parent(run, own == rows->end() ? kNone : own->second); !judged) return judged;
  }
  return judge_runs_named();
}

Result<void> ChildCheck::judge_parent(const model::Run& seen, const std::map<std::string, ChildRow>& rows) {
  RunState ended = seen.progress.state;
  if (!rows.empty() && !model::is_final(ended)) {  // it may have ended since
    const auto now = sources_.reader.get_run(seen.id);
    if (!now && now.error().code == ErrorCode::NotFound) return {};  // retention was faster
    if (!now) return fail(now.error());
    ended = now->run.progress.state;
    if (!model::is_final(ended)) {
      wrong(check_, fmt::format("run {}: it has children and has not ended", seen.id.value));
    }
  }
  if (!model::is_final(ended)) return {};
  const Due due = due_after(names_.at({seen.job, seen.version}), ended);
  check_.planned += static_cast<std::int64_t>(due.size());
  for (const auto& [name, key] : due) {
    const auto row = rows.find(name);
    if (row == rows.end()) {
      const auto lost = is_lost(seen.id, name);
      if (!lost) return fail(lost.error());
      if (*lost) miss(check_, words_of(seen.id, name) + " is due, and neither began nor was refused");
      continue;
    }
    ++(row->second.run == RunId{} ? check_.skipped : check_.fired);
    if (row->second.key != key || row->second.ended != ended) {
      wrong(check_, words_of(seen.id, name) + " is noted for another end");
    }
    if (row->second.run != RunId{}) {
      named_.push_back(row->second);
    } else if (row->second.reason == model::Reason::None) {
      wrong(check_, words_of(seen.id, name) + " did not begin, and nothing says why");
    }
  }
  for (const auto& [name, row] : rows) {
    if (!due.contains(name)) wrong(check_, words_of(seen.id, name) + " is not due at such an end");
  }
  return {};
}

/// Between the two questions the leader may have made what it owed, and retention may have deleted the run.
Result<bool> ChildCheck::is_lost(RunId parent, const std::string& name) {
  const auto owed = sources_.reader.owed_among({parent});
  if (!owed) return fail(owed.error());
  if (!owed->empty()) return false;
  const auto rows = rows_of({parent});
  if (!rows) return fail(rows.error());
  const auto own = rows->find(parent);
  if (own != rows->end() && own->second.contains(name)) return false;
  return stands(parent);
}

/// Rows of a run are asked for after the run was read. Where none is found, they count as missing only if the
/// run itself has not been deleted meanwhile: retention deletes both.
Result<bool> ChildCheck::stands(RunId run) {
  const auto found = sources_.reader.runs_among({run});
  if (!found) return fail(found.error());
  return !found->empty();
}

Result<void> ChildCheck::judge_runs_named() {
  std::vector<RunId> ids;
  for (const ChildRow& row : named_) ids.push_back(row.run);
  if (ids.empty()) return {};
  const auto found = sources_.reader.runs_among(ids);
  if (!found) return fail(found.error());
  const std::set<RunId> there(found->begin(), found->end());
  const auto gone = sources_.reader.runs_gone_through();
  if (!gone) return fail(gone.error());
  for (const ChildRow& row : named_) {
    if (there.contains(row.run) || row.run <= *gone) continue;
    miss(check_, fmt::format("{}: its run {} is not there", words_of(row.parent, row.name), row.run.value));
  }
  return {};
}

Result<void> ChildCheck::judge_children() {
  std::vector<RunId> ids;
  for (const model::Run& run : children_) ids.push_back(run.id);
  const auto read = sources_.reader.child_rows_of(ids);
  if (!read) return fail(read.error());
  std::map<RunId, std::vector<ChildRow>> rows;
  for (const ChildRow& row : *read) rows[row.run].push_back(row);
  for (const model::Run& run : children_) {
    ++check_.planned;
    const auto own = rows.find(run.id);
    if (own != rows.end()) {
      judge_child(run, own->second);
      continue;
    }
    const auto is_there = stands(run.id);
    if (!is_there) return fail(is_there.error());
    if (!*is_there) continue;
    wrong(check_,
          fmt::format("run {}: it is of a child job, and no end of a run began it", run.id.value));
  }
  return {};
}

void ChildCheck::judge_child(const model::Run& run, const std::vector<ChildRow>& rows) {
  const ChildRow& row = rows.front();
  const bool is_its_key =
      run.request_key == model::child_key(row.parent, row.name) && run.principal == model::kChildPrincipal;
  if (rows.size() > 1 || !is_its_key || row.parent >= run.id) {
    wrong(check_, fmt::format("run {}: it names another cause than run {}", run.id.value, row.parent.value));
  }
  if (row.depth == 1 ? row.root != row.parent : row.root >= row.parent) {
    wrong(check_, fmt::format("run {}: {} is no root of it", run.id.value, row.root.value));
  }
  const bool is_cut =
      run.progress.state == RunState::Skipped && run.progress.reason == model::Reason::ChildTooDeep;
  if (is_cut != (row.depth > model::kDeepestChild)) {
    wrong(check_, fmt::format("run {}: {} runs below its root, where {} are the most", run.id.value,
                              row.depth, model::kDeepestChild));
  }
}

}  // namespace rota::master::verify
