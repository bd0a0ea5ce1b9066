#include "master/store/mysql/child_rows.h"

#include <fmt/format.h>

#include <utility>

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

const MultiRow kInsertChildren{
    "INSERT INTO run_child (parent_id, name, named_by, root_id, depth, parent_state, made_ms, run_id, "
    "reason) VALUES",
    9, "ON DUPLICATE KEY UPDATE parent_id = parent_id"};
const MultiRow kInsertOwed{
    "INSERT INTO child_owed (parent_id, root_id, depth, parent_state, namespace, logical_ms, children) "
    "VALUES",
    7, "ON DUPLICATE KEY UPDATE parent_id = parent_id"};

void bind_child(Binder& binder, const model::ChildRow& row) {
  binder.integer(row.parent.value)
      .text(row.name)
      .text(name_of(row.key))
      .integer(row.root.value)
      .integer(row.depth)
      .text(name_of(row.ended))
      .time(row.made)
      .integer(row.run.value)
      .text(name_of(row.reason));
}

/// Names hold no line breaks.
std::string lines_of(const std::vector<model::NamedChild>& children) {
  std::string lines;
  for (const model::NamedChild& child : children) {
    lines += fmt::format("{} {}\n", name_of(child.key), child.name);
  }
  return lines;
}

void bind_owed(Binder& binder, const model::OwedChildren& row) {
  binder.integer(row.parent.value)
      .integer(row.root.value)
      .integer(row.depth)
      .text(name_of(row.ended))
      .text(row.space)
      .time(row.logical)
      .text(lines_of(row.children));
}

tl::unexpected<Error> strange(std::string_view column, const std::string& found) {
  return fail(ErrorCode::Corrupt,
              fmt::format("the store holds {} '{}', which this program does not know", column, found));
}

Result<std::vector<model::NamedChild>> children_in(std::string_view lines) {
  std::vector<model::NamedChild> out;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const std::size_t space = line.find(' ');
    const auto key = model::child_key_named(line.substr(0, space));
    if (end == std::string_view::npos || space == std::string_view::npos || !key) {
      return strange("children", std::string(line));
    }
    out.push_back({*key, std::string(line.substr(space + 1))});
    lines.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

void write_children(BatchText& batch, const core::Changes& changes) {
  const auto& children = changes.children;
  batch.add_rows(kInsertChildren,
                 {children.size(), [&](Binder& binder, std::size_t i) { bind_child(binder, children[i]); }});
  const auto& owed = changes.children_owed;
  batch.add_rows(kInsertOwed,
                 {owed.size(), [&](Binder& binder, std::size_t i) { bind_owed(binder, owed[i]); }});
  if (changes.children_done.empty()) return;
  std::string ids;
  for (const RunId parent : changes.children_done) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", parent.value);
  }
  batch.add("DELETE FROM child_owed WHERE parent_id IN (" + ids + ")");
}

Result<model::ChildRow> read_child(Row& row) {
  model::ChildRow out;
  out.parent = RunId{row.integer()};
  out.name = row.text();
  const std::string key = row.text();
  out.root = RunId{row.integer()};
  out.depth = static_cast<std::int32_t>(row.integer());
  const std::string ended = row.text();
  out.made = row.time();
  out.run = RunId{row.integer()};
  const std::string reason = row.text();
  const auto named_key = model::child_key_named(key);
  const auto named_end = model::run_state_named(ended);
  const auto named_reason = model::reason_named(reason);
  if (!named_key) return strange("named_by", key);
  if (!named_end) return strange("parent_state", ended);
  if (!named_reason) return strange("reason", reason);
  out.key = *named_key;
  out.ended = *named_end;
  out.reason = *named_reason;
  return out;
}

Result<model::OwedChildren> read_owed(Row& row) {
  model::OwedChildren out;
  out.parent = RunId{row.integer()};
  out.root = RunId{row.integer()};
  out.depth = static_cast<std::int32_t>(row.integer());
  const std::string ended = row.text();
  out.space = row.text();
  out.logical = row.time();
  auto children = children_in(row.text());
  if (!children) return fail(children.error());
  const auto named_end = model::run_state_named(ended);
  if (!named_end) return strange("parent_state", ended);
  out.ended = *named_end;
  out.children = std::move(*children);
  return out;
}

}  // namespace rota::master::store
