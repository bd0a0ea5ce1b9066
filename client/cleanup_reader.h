// The words of `cleanup` in a job file: their templates are checked where they stand. Pure.
#pragma once

#include <job_types.h>

#include <string>

#include "common/config/yaml_reader.h"

namespace rota::client {

/// Adds a problem, with line and column, for each word of the list under `cleanup` that names what is not
/// known. A list that is none has its problem already. `path`: of the key, for messages.
void check_cleanup(const config::YamlNode& job, const thrift::Work& work, const std::string& source,
                   const std::string& path, config::Problems& problems);

}  // namespace rota::client
