#include "client/command/run_tree.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/command/screen.h"
#include "client/command/table.h"

namespace rota::client {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRelatives = 500;  // of one answer

class TreeTable {
 public:
  explicit TreeTable(const thrift::RunDetail& detail)
      : detail_(detail), table_({"TREE", "BY", "STATE", "WHY", "STARTED", "ENDED"}) {
    for (const thrift::RunRelative& each : detail.family) below_[each.parent].push_back(&each);
  }

  std::string text() {
    const bool has_other_root = detail_.__isset.root && detail_.root != detail_.run.id;
    add_root(has_other_root ? detail_.root : detail_.run.id,
             has_other_root ? (detail_.__isset.root_run ? &detail_.root_run : nullptr) : &detail_.run);
    return table_.text();
  }

 private:
  void add_root(std::int64_t id, const thrift::RunInfo* root) {
    if (root == nullptr) {
      table_.add({fmt::format("{} (deleted){}", id, mark_of(id)), "", "", "", "", ""});
    } else {
      table_.add({fmt::format("{} {}{}", id, root->job_name, mark_of(id)), "", root->state,
                  root->reason == "none" ? "" : root->reason,
                  show_time(root->__isset.started_ms ? root->started_ms : 0),
                  show_time(root->__isset.ended_ms ? root->ended_ms : 0)});
    }
    add_below(id, 1);
  }

  void add_below(std::int64_t parent, std::size_t depth) {
    const auto found = below_.find(parent);
    if (found == below_.end() || depth > kMostRelatives) return;
    for (const thrift::RunRelative* each : found->second) {
      const std::string run = each->run == 0 ? "no run" : std::to_string(each->run);
      const std::string state = each->run != 0 && each->state.empty() ? "deleted" : each->state;
      table_.add({fmt::format("{}{} {}{}", std::string(depth * 2, ' '), run, each->job, mark_of(each->run)),
                  each->named_by, state, each->reason == "none" ? "" : each->reason,
                  show_time(each->__isset.started_ms ? each->started_ms : 0),
                  show_time(each->__isset.ended_ms ? each->ended_ms : 0)});
      if (each->run != 0) add_below(each->run, depth + 1);
    }
  }

  std::string mark_of(std::int64_t id) const { return id == detail_.run.id ? " *" : ""; }

  const thrift::RunDetail& detail_;
  std::map<std::int64_t, std::vector<const thrift::RunRelative*>> below_;
  Table table_;
};

json to_json(const thrift::RunRelative& each) {
  json out = {{"parent", std::to_string(each.parent)}, {"job", each.job}, {"named_by", each.named_by},
              {"depth", each.depth}, {"state", each.state}, {"reason", each.reason}};
  out["run"] = each.run == 0 ? json() : json(std::to_string(each.run));
  out["started_at_ms"] = each.__isset.started_ms ? json(each.started_ms) : json();
  out["ended_at_ms"] = each.__isset.ended_ms ? json(each.ended_ms) : json();
  return out;
}

}  // namespace

std::string tree_text(const thrift::RunDetail& detail) {
  if (!detail.__isset.family || (detail.family.empty() && !detail.__isset.parent)) return "";
  std::string text = TreeTable(detail).text();
  if (detail.family.size() >= kMostRelatives) {
    text += fmt::format("only the first {}; rota run list --root {} lists all\n", kMostRelatives,
                        detail.__isset.root ? detail.root : detail.run.id);
  }
  return text;
}

void put_tree(json& out, const thrift::RunDetail& detail) {
  out["parent"] = detail.__isset.parent ? json(std::to_string(detail.parent)) : json();
  out["root"] = detail.__isset.root ? json(std::to_string(detail.root)) : json();
  out["family"] = json::array();
  for (const thrift::RunRelative& each : detail.family) out["family"].push_back(to_json(each));
}

}  // namespace rota::client
