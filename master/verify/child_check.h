// P49: each run that has ended has one row for each child job that its version names for such an end, with
// the child's run or the reason why none began; or all of them are owed. No run of a child job is there
// without such a row, and none before its parent's end. Which names count is read from stored versions, here.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class ChildCheck {
 public:
  ChildCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come. Those that name no child cost nothing.
  void learn(const model::JobVersionRow& version);
  void look_at(const model::Run& run);
  /// Judges the runs that were looked at since the last call, with one question for all of them.
  Result<void> judge_page();

 private:
  struct Names {
    std::vector<std::string> success, failure, end;
  };
  using Due = std::map<std::string, model::ChildKey>;
  using Rows = std::map<RunId, std::map<std::string, model::ChildRow>>;

  static Due due_after(const Names& names, model::RunState ended);
  Result<Rows> rows_of(const std::vector<RunId>& parents);
  Result<void> judge_parents();
  Result<void> judge_parent(const model::Run& run, const std::map<std::string, model::ChildRow>& rows);
  Result<bool> is_lost(RunId parent, const std::string& name);
  Result<bool> stands(RunId run);
  Result<void> judge_runs_named();
  Result<void> judge_children();
  void judge_child(const model::Run& run, const std::vector<model::ChildRow>& rows);

  const Sources& sources_;
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, Names> names_;
  std::vector<model::Run> parents_;            ///< whose versions name children
  std::vector<model::Run> children_;           ///< runs of child jobs
  std::vector<model::ChildRow> named_;         ///< rows of these parents that name a run
};

}  // namespace rota::master::verify
