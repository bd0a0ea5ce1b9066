// What is wrong with the entries of a schedule beyond a single value, told at the key that says it.
#pragma once

#include <string>
#include <vector>

#include "common/config/yaml_reader.h"
#include "common/model/entry_rules.h"

namespace rota::client {

/// Tells the rules (entry_rules.h) that an entry breaks. `node` is how it is written, `path` where it stands.
void tell_broken_rules(const std::vector<model::EntryProblem>& broken, const config::YamlNode& node,
                       const std::string& source, const std::string& path, config::Problems& problems);

/// Refuses keys that say nothing for an entry of that kind. Masters ignore them.
void refuse_idle_keys(config::MapReader& map, const model::ScheduleEntry& entry);

}  // namespace rota::client
