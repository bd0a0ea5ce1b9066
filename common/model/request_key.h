// Keys that clients make for their requests, so that a repeat has no second effect.
#pragma once

#include <string_view>

namespace rota::model {

/// What rota's own clients begin theirs with. The time follows, in hexadecimal digits: so newer ones are
/// greater, apart from differences between clocks, on which nothing depends.
inline constexpr std::string_view kOwnKeyPrefix = "auto-";
/// The least text that is greater than all of these.
inline constexpr std::string_view kOwnKeyEnd = "auto.";

}  // namespace rota::model
