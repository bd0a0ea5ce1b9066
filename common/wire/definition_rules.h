// What a job definition must keep to, except for its schedule (core/time/schedule.h). Pure; used by the
// API before anything enters the loop. Each field by itself goes by its row (field_rules.h); here is what
// concerns several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/job_fields.h"
#include "common/model/run.h"

namespace rota::wire {

using model::kMaxWorkBytes;
inline constexpr std::size_t kMaxRequestKeyBytes = 128;

/// All that is wrong, as "place: value, what is allowed, remedy"; empty when it is fine. A one-off
/// (`saved` false) needs no name and may have no schedule.
std::vector<std::string> definition_problems(const model::JobDefinition& definition, bool saved);

/// The same as a result: InvalidArgument with all problems, one after the other.
Result<void> validate_definition(const model::JobDefinition& definition, bool saved = true);

/// Parameters given to one run, and its request key.
Result<void> validate_parameters(const model::Parameters& parameters);
Result<void> validate_request_key(std::string_view key);

}  // namespace rota::wire
