// What a schedule needs besides its rules: calendars, and what a job adds to it. Jobs with equal rules that
// add the same have the same ticks, so that they share one compiled schedule. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/model/job.h"

namespace rota::master::core {

/// Read once of the rules of many jobs. Thread: constant after construction.
class ScheduleNeeds {
 public:
  ScheduleNeeds() = default;  ///< nothing
  explicit ScheduleNeeds(const model::Schedule& schedule);

  /// Two jobs with this schedule may have different ticks: by their anchors, or their names. One that cannot
  /// be read counts as such.
  bool depends_on_job() const { return needs_anchor_ || !hashed_.empty(); }
  /// The calendars that its entries name, each once, in their order. What cannot be read names none.
  const std::vector<std::string>& calendars() const { return calendars_; }
  /// What a job with that anchor and hash (cron_hash.h) adds: equal texts, equal ticks. Empty: nothing.
  /// Jitter is not part of it, since it moves no tick.
  std::string part_of_job(WallTime anchor, std::uint64_t hash) const;

 private:
  bool needs_anchor_ = false;
  std::vector<std::pair<std::string, model::CronDialect>> hashed_;  ///< crons with an H
  std::vector<std::string> calendars_;
};

}  // namespace rota::master::core
