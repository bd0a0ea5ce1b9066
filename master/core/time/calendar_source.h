// How whoever compiles a schedule looks up the calendars that its entries name.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "master/core/time/day_rules.h"

namespace rota::master::core {

/// Shared, because thousands of jobs name the same calendar. An edit of the calendar makes another object,
/// and the schedules of its jobs are compiled again.
using CalendarHistoryPtr = std::shared_ptr<const CalendarHistory>;

/// By its name, in the job's namespace. Null: there is none.
using CalendarSource = std::function<CalendarHistoryPtr(std::string_view name)>;

}  // namespace rota::master::core
