// Calendars in job files: a list under `calendars:`.
#pragma once

#include <string>

#include <calendar_types.h>

#include "common/config/yaml_reader.h"

namespace rota::client {

/// One calendar. What is wrong goes to `problems`, each with its place. A time zone is left to the server.
thrift::Calendar read_calendar(const config::YamlNode& node, const std::string& source,
                               const std::string& path, config::Problems& problems);

/// The calendar as a job file again (what `rota calendar show` prints).
std::string calendar_file_text(const thrift::Calendar& calendar);

}  // namespace rota::client
