// Calendars between the wire and the model, and what they must keep to.
#pragma once

#include <calendar_types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/calendar.h"

namespace rota::wire {

/// What is wrong with a calendar's description; empty when it is fine.
std::string description_problem(const std::string& text);

/// All that is wrong with it apart from its days, which compiling a calendar looks at: "name: ...".
std::vector<std::string> calendar_problems(const std::string& space, const model::Calendar& calendar);

thrift::Calendar to_wire(const std::string& space, const model::Calendar& calendar);
/// InvalidArgument: `beyond` is no word of its.
Result<model::Calendar> from_wire(const thrift::Calendar& calendar);

thrift::CalendarVersion to_wire(const model::CalendarRow& row);

}  // namespace rota::wire
