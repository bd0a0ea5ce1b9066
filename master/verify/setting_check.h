// P46: what operators changed while the cluster ran is there without a hole, and in force.
#pragma once

#include "master/verify/verify.h"

namespace rota::master::verify {

/// A change is in force on every master within a second; one that is younger than this is left out.
inline constexpr Millis kSettingInForceWithin{5000};

Result<void> look_at_settings(const Sources& sources, const Request& request, Check& check);

}  // namespace rota::master::verify
