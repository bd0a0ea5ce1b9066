// A calendar as JSON text: what the store keeps of a version.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/calendar.h"

namespace rota::wire {

/// "days" and "hold".
std::string_view name_of(model::BeyondCover beyond);

/// InvalidArgument when a text in it is no valid UTF-8.
Result<std::string> calendar_to_json(const model::Calendar& calendar);
/// Unknown fields are ignored, missing ones keep their defaults. Corrupt when it is no such JSON.
Result<model::Calendar> calendar_from_json(std::string_view json);

}  // namespace rota::wire
