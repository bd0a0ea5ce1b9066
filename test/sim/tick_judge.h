// P1 and P3 over the rows of the simulated database: ticks are enumerated here anew from the job
// versions, a window at each move of the watermark.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "master/core/schedule.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class TickJudge {
 public:
  /// Every planned tick after the last judgement and up to the watermark is one run or in one gap, and
  /// nothing else is. Empty, or what is wrong.
  std::string judge_window(SimTables& tables);

  /// The rows went back: a version may come again with another definition.
  void forget_versions() { schedules_.clear(); }

  /// A new gap row. `tables` are those before the batch. Empty, or what its reason belies (P3).
  std::string judge_gap(const SimTables& tables, const model::Gap& gap) const;
  /// A new run of a tick (P1, P3).
  std::string judge_run(const SimTables& tables, const model::Run& run) const;

 private:
  using Planned = std::map<std::pair<JobId, WallTime>, std::pair<JobVersion, int>>;

  Planned plan(const SimTables& tables, WallTime after, WallTime through);
  const master::core::CompiledSchedule& schedule_of(const model::JobVersionRow& row);
  static std::string count_runs(const SimTables& tables, WallTime after, WallTime through, Planned& planned);
  static std::string count_gaps(SimTables& tables, WallTime through, Planned& planned);

  std::map<std::pair<JobId, JobVersion>, master::core::CompiledSchedule> schedules_;
};

}  // namespace rota::sim
