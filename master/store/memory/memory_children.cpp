// What is asked of child jobs.
#include <algorithm>
#include <set>
#include <tuple>

#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {

Result<std::vector<FamilyRow>> MemoryStore::family_of(RunId root, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<FamilyRow> out;
  for (const auto& [key, row] : tables_->children) {
    if (row.root != root) continue;
    FamilyRow& family = out.emplace_back();
    family.child = row;
    const auto run = tables_->runs.find(row.run);
    if (run == tables_->runs.end()) continue;
    const model::RunProgress& at = run->second.progress;
    family.has_run = true;
    family.state = at.state;
    family.reason = at.reason;
    family.started = at.started;
    family.ended = at.ended;
  }
  std::ranges::stable_sort(out, {}, [](const FamilyRow& row) { return row.child.depth; });
  const auto most = static_cast<std::size_t>(std::max(limit, 1));
  if (out.size() > most) out.resize(most);
  return out;
}

Result<std::vector<model::ChildRow>> MemoryStore::children_of(const std::vector<RunId>& parents) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const std::set<RunId> wanted(parents.begin(), parents.end());
  std::vector<model::ChildRow> out;
  for (const auto& [key, row] : tables_->children) {
    if (wanted.contains(row.parent)) out.push_back(row);
  }
  return out;
}

Result<std::vector<model::ChildRow>> MemoryStore::child_rows_of(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const std::set<RunId> wanted(runs.begin(), runs.end());
  std::vector<model::ChildRow> out;
  for (const auto& [key, row] : tables_->children) {
    if (row.run != RunId{} && wanted.contains(row.run)) out.push_back(row);
  }
  std::ranges::sort(out, {}, &model::ChildRow::run);
  return out;
}

Result<std::vector<RunId>> MemoryStore::owed_among(const std::vector<RunId>& parents) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<RunId> out;
  for (const RunId parent : std::set<RunId>(parents.begin(), parents.end())) {
    if (tables_->children_owed.contains(parent)) out.push_back(parent);
  }
  return out;
}

}  // namespace rota::master::store
