// What is asked of child jobs.
#include <fmt/format.h>

#include "master/store/mysql/child_rows.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<FamilyRow> read_family(Row& row) {
  auto child = read_child(row);
  if (!child) return fail(child.error());
  FamilyRow out;
  out.child = std::move(*child);
  const auto state = row.maybe_text();
  const auto reason = row.maybe_text();
  out.started = row.maybe_time();
  out.ended = row.maybe_time();
  if (!state) return out;
  out.has_run = true;
  out.state = model::run_state_named(*state).value_or(model::RunState::Waiting);
  out.reason = model::reason_named(reason.value_or("")).value_or(model::Reason::None);
  return out;
}

}  // namespace

Result<std::vector<FamilyRow>> MysqlReader::family_of(RunId root, std::int32_t limit) {
  return rows_of<FamilyRow>(
      pool_,
      fmt::format("SELECT {}, IF(o.attempt > 0, 'dispatched', r.state), IF(o.attempt > 0, 'none', r.reason), "
                  "r.started_ms, r.ended_ms FROM run_child c LEFT JOIN run r ON r.run_id = c.run_id {}"
                  "WHERE c.root_id = ? ORDER BY c.depth, c.parent_id, c.name LIMIT {}",
                  kChildColumns, kWithOpen, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(root.value); }, read_family);
}

Result<std::vector<model::ChildRow>> MysqlReader::children_of(const std::vector<RunId>& parents) {
  if (parents.empty()) return std::vector<model::ChildRow>();
  return rows_of<model::ChildRow>(
      pool_,
      fmt::format("SELECT {} FROM run_child c WHERE c.parent_id IN ({}) ORDER BY c.parent_id, c.name",
                  kChildColumns, run_numbers(parents)),
      {}, read_child);
}

Result<std::vector<model::ChildRow>> MysqlReader::child_rows_of(const std::vector<RunId>& runs) {
  if (runs.empty()) return std::vector<model::ChildRow>();
  return rows_of<model::ChildRow>(
      pool_,
      fmt::format("SELECT {} FROM run_child c WHERE c.run_id IN ({}) ORDER BY c.run_id", kChildColumns,
                  run_numbers(runs)),
      {}, read_child);
}

Result<std::vector<RunId>> MysqlReader::owed_among(const std::vector<RunId>& parents) {
  if (parents.empty()) return parents;
  return rows_of<RunId>(
      pool_,
      fmt::format("SELECT w.parent_id FROM child_owed w WHERE w.parent_id IN ({}) ORDER BY w.parent_id",
                  run_numbers(parents)),
      {}, [](Row& row) -> Result<RunId> { return RunId{row.integer()}; });
}

}  // namespace rota::master::store
