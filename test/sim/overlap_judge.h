// Judges by rows what overlap and concurrency promise: how many runs of a job are under way, how many wait, and
// which run took the place of one that was replaced. No edit in the simulator changes these two rules.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/model/job.h"
#include "marks.h"
#include "sim_tables.h"

namespace rota::sim {

/// So many of the job's runs may be under way; 0: no bound.
std::int32_t at_once(const model::JobRules& rules);

/// Thread: one.
class OverlapJudge {
 public:
  explicit OverlapJudge(Marks& marks) : marks_(marks) {}

  /// A run is new, or changed. Its row stands in the tables already.
  void note(SimTables& tables, RunId run);
  /// It ends now. Empty, or what is wrong.
  std::string judge_end(const SimTables& tables, const model::Run& run);
  /// Behind each batch, of the jobs whose runs it names. Empty, or what is wrong. `unknown`: runs that a
  /// restored database has without their jobs, so that no leader knows of them.
  std::string judge_batch(const SimTables& tables, const std::set<RunId>& unknown);

 private:
  Marks& marks_;
  std::set<JobId> touched_;
};

}  // namespace rota::sim
