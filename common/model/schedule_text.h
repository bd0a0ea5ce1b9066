// A schedule as one line, as in job files and on the command line. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/job.h"

namespace rota::model {

/// "@every 1h30m" becomes a fixed rate; "@hourly @daily @midnight @weekly @monthly @yearly
/// @annually" and anything else a cron, which is not checked here (master/core/time/cron.h does).
/// InvalidArgument for an unknown @word or a wrong duration.
Result<Schedule> schedule_from_text(std::string_view text);

/// The reverse: "@every 1h30m", the cron, "once at 2026-…Z", the lines of its entries,
/// or "" for none.
std::string schedule_to_text(const Schedule& schedule);

/// Whether an H stands in it, which the job's name decides.
bool uses_hash(std::string_view cron);

/// The five cron fields that a macro stands for, or the text itself.
std::string_view cron_of_macro(std::string_view text);

}  // namespace rota::model
