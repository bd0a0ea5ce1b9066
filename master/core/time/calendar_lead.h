// How far ahead an edit of a calendar counts.
#pragma once

#include "common/base/time.h"

namespace rota::master::core {

/// At least so much later than the edit is made.
inline constexpr Millis kCalendarLead{10'000};

}  // namespace rota::master::core
