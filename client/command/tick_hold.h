// The remark that commands about ticks add while the leader holds ticks.
#pragma once

#include <string>

#include "client/command/commands.h"

namespace rota::client {

struct TickHold {
  std::string why;               ///< empty: ticks fire, or no master answered
  WallTime recorded_through{};   ///< ticks before this do not fire any more
};

TickHold tick_hold_of(Desk& desk);

/// Prints it on standard error; prints nothing when ticks fire.
void tell_hold(const TickHold& hold);

}  // namespace rota::client
