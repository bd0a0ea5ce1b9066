// Judges by rows what child jobs promise (P49): the batch that ends a run has a row for each name that its version
// gives for such an end, or says that all of them are owed; each row comes once, and with its run; no run of a child
// job is there without one. Which names count is looked for anew here, from versions alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "marks.h"
#include "master/core/effect.h"
#include "random.h"
#include "sim_tables.h"

namespace rota::sim {

/// Names some of the jobs that stand behind it in the list: so there is no circle.
void draw_children(model::JobRules& rules, const std::vector<model::JobDefinition>& jobs, std::size_t own, Random& dice);

/// Thread: one.
class ChildJudge {
 public:
  explicit ChildJudge(Marks& marks) : marks_(marks) {}

  /// Behind each batch; `ended`: runs of before that ended with it. Empty, or what is wrong.
  std::string judge_batch(const SimTables& tables, const master::core::Changes& changes,
                          std::set<RunId> ended);

 private:
  using Key = std::pair<RunId, std::string>;

  std::string judge_end(const SimTables& tables, const master::core::Changes& changes, const model::Run& run);
  std::string judge_row(const SimTables& tables, const model::ChildRow& row, const std::set<RunId>& ended);

  Marks& marks_;
  std::map<Key, model::ChildRow> first_;
  std::map<RunId, model::ChildRow> by_run_;
  std::set<RunId> owed_;
};

}  // namespace rota::sim
