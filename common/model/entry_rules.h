// What an entry of a schedule must keep to besides its cron, and entries among each other. Masters and the
// reader of job files ask the same rules, so that a wrong file is told with its line. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/model/schedule_entry.h"

namespace rota::model {

inline constexpr Millis kLeastInterval{100};
inline constexpr Millis kMostInterval = std::chrono::hours{24 * 3660};
inline constexpr Millis kLongestJitter = std::chrono::hours{24};
inline constexpr int kMostWorkingDays = 31;

struct EntryProblem {
  std::size_t entry = 0;  ///< its place in the list
  std::string key;        ///< as in a job file: "between", "calendar.otherwise"
  std::string what;       ///< what is wrong, and the remedy
};

/// All that is wrong with an entry by itself; empty when it is fine. Zone and calendars are not looked up.
std::vector<EntryProblem> problems_of_entry(const ScheduleEntry& entry);

/// What only one entry of a schedule may have.
std::vector<EntryProblem> problems_among(const std::vector<ScheduleEntry>& entries);

}  // namespace rota::model
