#include "client/command/tick_hold.h"

namespace rota::client {

TickHold tick_hold_of(Desk& desk) {
  const auto status = desk.cluster.cluster_status();
  if (!status) return {};
  return {status->held, wall_from_ms(status->watermark_ms)};
}

void tell_hold(const TickHold& hold) {
  if (!hold.why.empty()) note("ticks are held: " + printable(hold.why));
}

}  // namespace rota::client
