// Rules and compiled schedules of saved jobs: a million jobs have a few thousand different ones, and those
// that are equal are one object.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/model/job.h"
#include "master/core/tables/run_table.h"
#include "master/core/time/schedule.h"
#include "master/core/time/schedule_needs.h"

namespace rota::master::core {

using SchedulePtr = std::shared_ptr<const CompiledSchedule>;

/// What a job does by: its rules, and when they let it fire.
struct Plan {
  RulesPtr rules;
  SchedulePtr schedule;
};

/// Owner: JobTable. Thread: the Scheduler's. It keeps nothing alive that no job has.
class RulesShelf {
 public:
  /// Rules with this content: an earlier object of the same, or this one.
  RulesPtr share(RulesPtr rules);
  /// Of rules that share() gave, for the job of that hash (cron_hash.h): a schedule that another job with
  /// these rules has, when both have the same ticks. InvalidArgument as compile() says.
  Result<Plan> plan(RulesPtr rules, const model::Zones& zones, WallTime anchor, std::uint64_t hash = 0,
                    const CalendarSource& calendars = {});
  std::size_t size() const { return kept_.size(); }

 private:
  /// By what a job adds to the rules (ScheduleNeeds).
  using Schedules = std::unordered_map<std::string, std::weak_ptr<const CompiledSchedule>>;
  struct Kept {
    std::weak_ptr<const KeptRules> rules;
    model::Zones zones;                ///< that the schedule was compiled with, as the calendars
    std::vector<CalendarHistoryPtr> calendars;
    ScheduleNeeds needs;
    Schedules schedules;
    std::size_t drop_at = 1;           ///< so many schedules: those that no job has are dropped first
  };
  using Places = std::unordered_multimap<std::size_t, Kept>;

  Places::iterator find(const KeptRules& rules);
  static void keep(Kept& kept, std::string part, const SchedulePtr& schedule);
  void drop_unused();

  Places kept_;                        ///< by a hash of some of their content
  std::size_t drop_at_ = 64;
};

}  // namespace rota::master::core
