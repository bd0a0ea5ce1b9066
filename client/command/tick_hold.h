// What commands that speak of ticks add while the leader holds them.
#pragma once

#include <string>

#include "client/command/commands.h"

namespace rota::client {

struct TickHold {
  std::string why;               ///< empty: ticks fire, or nobody could be asked
  WallTime recorded_through{};   ///< what lies before fires no more
};

TickHold tick_hold_of(Desk& desk);

/// On the standard error; nothing when ticks fire.
void tell_hold(const TickHold& hold);

}  // namespace rota::client
