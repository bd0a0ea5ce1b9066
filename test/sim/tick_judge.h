// Judges P1 and P3 on the rows of the simulated database: enumerates the ticks again from the job versions. For
// each job, every move of the point up to which its ticks are recorded gives a window.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calendar_judge.h"
#include "marks.h"
#include "master/core/time/schedule.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class TickJudge {
 public:
  explicit TickJudge(Marks& marks) : marks_(marks) {}

  /// Checks that every planned tick after the last check, up to where the rows say, is one run or in one gap, and
  /// that there is nothing else, also not beyond that. Empty, or what is wrong.
  std::string judge_window(SimTables& tables);

  /// The rows went back: a version may come again with another definition, and a freeze that a leader knows may
  /// be missing.
  void forget_versions() {
    schedules_.clear();
    readings_.clear();
    may_lack_freezes_ = true;
  }

  /// Versions of calendars count at other moments now.
  void forget_readings() { readings_.clear(); }

  /// A new gap row. `tables` are those before the batch. Empty, or what contradicts its reason (P3).
  static bool has_limit(const SimTables& tables, const model::Gap& gap);
  std::string judge_gap(const SimTables& tables, const model::Gap& gap) const;
  /// A new run that stands for a frozen tick (P33).
  std::string judge_made_up(const SimTables& tables, const model::Run& run) const;
  /// A new run of a tick (P1, P3).
  std::string judge_run(const SimTables& tables, const model::Run& run) const;
  /// Whether its tick may be one of an entry `after_end`: it comes so long after the tick before it at least.
  bool is_after_end(const SimTables& tables, const model::Run& run);

 private:
  bool may_lack_freezes_ = false;

  using Plan = std::map<std::pair<JobId, WallTime>, std::pair<JobVersion, int>>;
  struct Plans {
    Plan ticks;
    Plan edited_away;          ///< moments that edits of calendars took, where no other tick is
  };

  using Windows = std::map<JobId, std::pair<WallTime, WallTime>>;  ///< (after, through]

  static WallTime judged(const SimTables& tables, JobId job);
  Plans plan(const SimTables& tables, const Windows& windows);
  static std::string judge_firings(const SimTables& tables, const model::Run& run, std::int32_t most);
  void plan_entries(const SimTables& tables, const model::JobVersionRow& row, WallTime begin, WallTime end,
                    Plans& planned);
  const Readings& readings_of(const SimTables& tables, const model::JobVersionRow& row);
  bool is_open_after_end(const SimTables& tables, const model::JobVersionRow& row, WallTime tick);
  void note_moment(const EntryReading& reading, Planned how);
  void note_rest(const EntryReading& reading, WallTime after, WallTime through);
  const master::core::CompiledSchedule& schedule_of(const model::JobVersionRow& row);
  std::string count_runs(const SimTables& tables, const Windows& windows, Plans& planned);
  std::string count_gaps(SimTables& tables, const Windows& windows, Plans& planned);

  Marks& marks_;
  std::map<std::pair<JobId, JobVersion>, master::core::CompiledSchedule> schedules_;
  std::map<std::pair<JobId, JobVersion>, Readings> readings_;
};

}  // namespace rota::sim
