// `schedule:` of a job file: a line, a map, or a list of both. What one cron, rate or moment can say stands
// in the schedule's own fields; everything else in its entries, as lines (common/model/entry_text.h).
#pragma once

#include <string>

#include "client/job_reader.h"
#include "common/base/result.h"
#include "common/model/schedule_entry.h"

namespace rota::client {

/// The job's own `time_zone`, `start` and `end`, already read into `schedule`, hold where an entry has none.
void read_schedule(JobMaps& maps, const std::string& source, config::Problems& problems,
                   thrift::Schedule& schedule);

/// Entries as one schedule.
thrift::Schedule schedule_of(const std::vector<model::ScheduleEntry>& entries);

/// One line such as "@every 5s", "*/5 * * * *" or "@daily", as an entry.
Result<model::ScheduleEntry> entry_from_line(std::string_view line,
                                             const model::ScheduleEntry& defaults = {});

/// The entries as the lines of a job file that read_schedule reads as the same, each in a line of its own.
std::string entries_in_file(const std::vector<std::string>& entries);

}  // namespace rota::client
