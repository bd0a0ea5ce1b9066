// Job files: YAML as people write it, one job, or lists under `jobs:` and `calendars:`. Name, command and
// schedule are enough for a job. Every problem is told at once with line, column and what was probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <calendar_types.h>
#include <job_types.h>

#include "common/base/result.h"
#include "common/config/problems.h"

namespace rota::client {

/// A file may be so long.
inline constexpr std::size_t kLargestJobFile = std::size_t{64} << 20;

struct JobFile {
  std::vector<thrift::JobDefinition> jobs;
  std::vector<thrift::Calendar> calendars;
};

/// Reads the text of a job file; `source` stands in the messages. What is wrong goes to `problems`,
/// and then the result must not be used. What only the server can judge (a cron's fields, a zone, a
/// pool) is left to it.
JobFile read_job_file(const std::string& source, std::string_view text,
                      config::Problems& problems);

/// The definition as a job file again (what `rota job show` prints).
std::string job_file_text(const thrift::JobDefinition& definition);

/// Thrift's schedule from one line such as "@every 5s", "*/5 * * * *" or "@daily".
Result<thrift::Schedule> schedule_from_line(std::string_view line, const std::string& time_zone = {});

}  // namespace rota::client
