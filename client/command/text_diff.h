// The lines in which two texts differ. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

/// Removed lines with "-" and added lines with "+", in order; unchanged lines are left out. For texts of more
/// than 2,000 lines, only their common beginning and end count as unchanged.
std::string text_diff(std::string_view before, std::string_view after);

}  // namespace rota::client
