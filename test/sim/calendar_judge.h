// Judges what a batch says of calendars, and reads the entries of jobs that name them.
#pragma once

#include <string>
#include <vector>

#include "calendar_reading.h"
#include "sim_tables.h"

namespace rota::sim {

/// What a job version with entries plans.
struct Readings {
  std::size_t calendar_rows = 0;         ///< as many were stored when it was made
  model::JobVersionRow plain;            ///< with the entries that name no calendar
  std::vector<EntryReading> by_calendars;
  std::string wrong;                     ///< why it cannot be read
};

Readings read_entries(const SimTables& tables, const model::JobVersionRow& row);

/// The latest stored version of a calendar; null: there is none, or it is deleted.
const model::CalendarRow* living_calendar(const SimTables& tables, const std::string& space, const std::string& name);

/// The moment up to which a job's ticks are recorded: by the watermark, by the job's own row, and by the end of its
/// newest closed version.
WallTime recorded_of(const SimTables& tables, JobId job);

/// A new version of a calendar; `tables` are those before its batch. Empty, or what it breaks.
std::string judge_calendar(const SimTables& tables, const model::CalendarRow& row);

/// Every calendar that a saved job names is there. Empty, or which is missing.
std::string judge_calendar_users(const SimTables& tables);

}  // namespace rota::sim
