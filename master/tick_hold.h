// Why a leader holds its ticks, in words for people.
#pragma once

#include <optional>
#include <string>

#include "common/base/time.h"

namespace rota::master {

/// Empty: nothing holds them. `restored`: the database went back, and nobody has accepted that yet.
/// `skew`: the host's clock is so far ahead of the database's (negative: behind). Pure.
std::string reason_to_hold(bool restored, std::optional<Millis> skew);

}  // namespace rota::master
