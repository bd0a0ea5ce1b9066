// Job definitions as JSON text: what the store keeps of a job version. Every field is written, so that
// a later change of a default changes no stored job. Enumerators are lower-case names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/demand.h"
#include "common/model/job.h"

namespace rota::wire {

/// InvalidArgument when a text in it is no valid UTF-8, with the first such place.
Result<std::string> definition_to_json(const model::JobDefinition& definition);
/// Unknown fields are ignored, missing ones keep the model's default. Corrupt when it is no such JSON,
/// or names an enumerator that this binary does not know.
Result<model::JobDefinition> definition_from_json(std::string_view json);

/// The rules alone: what a leader reads at takeover. Same errors.
Result<std::string> rules_to_json(const model::JobRules& rules);
Result<model::JobRules> rules_from_json(std::string_view json);

/// A flat object of texts: parameters, labels. Same errors.
Result<std::string> texts_to_json(const std::map<std::string, std::string>& texts);
Result<std::map<std::string, std::string>> texts_from_json(std::string_view json);

/// What a worker offers, as its row has it: {"memory": 2147483648}.
std::string amounts_to_json(const model::Amounts& amounts);
/// Unset: it is none.
std::optional<model::Amounts> amounts_from_json(const std::string& text);

}  // namespace rota::wire
