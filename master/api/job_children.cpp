// What is told of the tree that a run stands in: its parent, its root, and all below that.
#include <fmt/format.h>

#include "common/wire/run_wire.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kMostRelatives = 500;

thrift::RunRelative to_wire(const store::FamilyRow& row) {
  thrift::RunRelative out;
  out.__set_parent(row.child.parent.value);
  out.__set_job(row.child.name);
  out.__set_run(row.child.run.value);
  out.__set_named_by(std::string(model::name_of(row.child.key)));
  out.__set_depth(row.child.depth);
  if (row.has_run) out.__set_state(std::string(model::name_of(row.state)));
  out.__set_reason(std::string(model::name_of(row.has_run ? row.reason : row.child.reason)));
  if (row.started) out.__set_started_ms(to_ms(*row.started));
  if (row.ended) out.__set_ended_ms(to_ms(*row.ended));
  return out;
}

}  // namespace

/// Runs that are no children, and whose jobs name none, cost no question.
void JobServiceHandler::put_family(thrift::RunDetail& out, const store::RunRow& row,
                                   const model::JobDefinition* definition) {
  RunId root = row.run.id;
  if (row.run.kind == model::RunKind::Child) {
    const auto own = value_or_throw(parts_.reader.child_rows_of({row.run.id}));
    if (own.empty()) return;
    root = own.front().root;
    out.__set_parent(own.front().parent.value);
    out.__set_root(root.value);
    const auto top = parts_.reader.get_run(root);
    if (top) out.__set_root_run(wire::to_wire(top->run, top->job_name));
  } else if (definition == nullptr || !model::names_children(definition->rules)) {
    return;
  }
  std::vector<thrift::RunRelative> family;
  for (const store::FamilyRow& each : value_or_throw(parts_.reader.family_of(root, kMostRelatives))) {
    family.push_back(to_wire(each));
  }
  out.__set_family(std::move(family));
}

/// Whose end began the run; empty: it is of no child job.
std::string JobServiceHandler::child_remark(const store::RunRow& row) const {
  if (row.run.kind != model::RunKind::Child) return "";
  const auto own = parts_.reader.child_rows_of({row.run.id});
  if (!own || own->empty()) return "";
  const model::ChildRow& child = own->front();
  const auto parent = parts_.reader.get_run(child.parent);
  const std::string of_job = parent ? fmt::format(" of job \"{}\"", parent->job_name) : "";
  return fmt::format(" It is a child of run {}{}, which ended as {} ({}).", child.parent.value, of_job,
                     model::name_of(child.ended), model::name_of(child.key));
}

}  // namespace rota::master::api
