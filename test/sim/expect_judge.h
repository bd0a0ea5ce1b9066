// Judges by rows what a job's `expect` promises (P43): what is not met of a run is told by the batch that ends
// it at the latest, of a gap by its own batch; nothing is told twice, or of what was met; and each
// notification of it stands beside its row. Each thing is looked for anew here, from the rows alone.
#pragma once

#include <string>

#include "marks.h"
#include "master/core/effect.h"
#include "random.h"
#include "sim_tables.h"

namespace rota::sim {

/// Draws what a job expects; nothing for most.
void draw_expected(model::JobRules& rules, Random& dice);

/// Thread: one.
class ExpectJudge {
 public:
  explicit ExpectJudge(Marks& marks) : marks_(marks) {}

  /// Before the batch's rows are put. Empty, or what is wrong.
  std::string judge_rows(const SimTables& tables, const master::core::Changes& changes) const;
  /// Behind the batch that ends it.
  std::string judge_end(const SimTables& tables, const model::Run& run) const;
  /// Behind the batch that records it.
  std::string judge_gap(const SimTables& tables, const model::Gap& gap) const;

 private:
  Marks& marks_;
};

}  // namespace rota::sim
