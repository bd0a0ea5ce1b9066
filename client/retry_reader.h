// `only`, `never` and `again` below `retry:` in a job file, which stand in the definition as lines
// (common/model/retry_text.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/yaml_reader.h"

namespace rota::client {

/// `[{exit: [75, "100-110"]}, timed_out]`, or one such item.
void read_ends(config::MapReader& map, std::string_view key, std::vector<std::string>& into);

/// `{exit: [75], every: 5m, at_most: 6h}`.
void read_again(config::MapReader& map, std::string_view key, std::string& into);

/// Written so that read_ends and read_again can read it. A line that this version does not know is a quoted
/// text.
std::string ends_in_file(const std::vector<std::string>& lines);
std::string again_in_file(const std::string& line);

}  // namespace rota::client
