// One entry of a schedule: a way in which a job becomes due. A job has up to 16
// of them; moments at which several fall are one tick.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/job.h"

namespace rota::model {

inline constexpr std::size_t kMostEntries = 16;

enum class EntryKind {
  Cron,
  Every,       ///< a fixed rate
  At,          ///< one moment
  AfterEnd,    ///< a fixed delay after the end of the last run
  WorkingDay,  ///< the n-th working day of the month, or the n-th from its end
  WorkerStart  ///< once for each start of a worker
};

/// What becomes of a tick on a day that its calendars close.
enum class Otherwise { Skip, Next, Previous };

struct ScheduleEntry {
  EntryKind kind = EntryKind::Cron;
  std::string name;  ///< told to the run; empty: its place in the list
  std::string cron;
  CronDialect dialect = CronDialect::Guess;
  std::string time_zone = "UTC";
  bool is_as_quartz = false;  ///< skipped and repeated times exactly as Quartz has them
  SkippedTime skipped_time = SkippedTime::RunAtEnd;
  RepeatedTime repeated_time = RepeatedTime::First;
  Millis interval{0};                  ///< Every, AfterEnd
  std::int32_t working_day = 0;        ///< 5: the fifth; -1: the last
  std::string time;                    ///< WorkingDay: "18:00"; empty: midnight
  std::string between;                 ///< "09:30-16:00", local; empty: all day
  std::vector<std::string> calendars;  ///< a day must be open in all of them
  Otherwise otherwise = Otherwise::Skip;
  std::int32_t day = 0;           ///< which day is asked for: -1 is the day before the tick's
  Millis jitter{0};               ///< the start comes up to this much later
  std::optional<WallTime> start;  ///< first valid moment; At: the moment; Every: the anchor
  std::optional<WallTime> end;    ///< no tick after it
  bool operator==(const ScheduleEntry&) const = default;
};

}  // namespace rota::model
