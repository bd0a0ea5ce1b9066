// What becomes of the jobs that use a calendar, in words.
#pragma once

#include <calendar_types.h>

#include <set>
#include <string>

namespace rota::client {

/// Which jobs can never fire again once this edit counts, and what to do; empty: none. `leave_out`: names of
/// jobs of the same plan, which are judged by themselves. Where the answer does not say it, that is told.
std::string over_words(const std::string& calendar, const thrift::CalendarEdited& edited,
                       const std::set<std::string>& leave_out);

/// "calendar shop/year covers no day after 2026-12-31 (38 days from now); 2 jobs use it; nothing fires then
/// (beyond: hold)". `now_ms` tells the days.
std::string ending_words(const thrift::CalendarEnding& ending, std::int64_t now_ms);

}  // namespace rota::client
