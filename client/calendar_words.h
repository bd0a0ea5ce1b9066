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

}  // namespace rota::client
