// The lines in which two texts differ. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

/// Each line that goes with "-", each that comes with "+", in order; lines that stay are left out. Texts of
/// more than 2,000 lines are compared by their common beginning and end alone.
std::string text_diff(std::string_view before, std::string_view after);

}  // namespace rota::client
