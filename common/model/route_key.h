// `route_key` of a job: a text with {{param.NAME}} in it, by which consistent_hash chooses a worker. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace rota::model {

/// InvalidArgument: what is wrong with it, for the author of the job.
Result<void> check_route_key(std::string_view key);

/// The key with these values in it; a name that has none stands for the empty text. "{{{{" is "{{".
std::string filled_route_key(std::string_view key, const std::map<std::string, std::string>* values);

}  // namespace rota::model
