// How long a worker may trust its session. Pure.
//
// Only an answered write proves that the servers agree: a follower cut off from its leader still
// answers reads and pings. The server counts the session from the moment it handled that write,
// which is after it was sent. So the lease is counted from the send time, on a clock that runs
// while the host sleeps, and the margin covers the server's tick, one beat and our own delay.
#pragma once

#include "common/base/time.h"

namespace rota::zk {

struct LeaseTiming {
  Millis session{6000};     ///< as granted by the server
  Millis server_tick{500};  ///< tickTime of the servers
};

constexpr Millis kLeaseReserve{300};

/// A beat is written six times per session timeout.
constexpr Millis beat_interval(const LeaseTiming& timing) { return timing.session / 6; }

constexpr Millis lease_margin(const LeaseTiming& timing) {
  return timing.server_tick + beat_interval(timing) + kLeaseReserve;
}

/// The lease that one answered write gives; 0 when the session is too short for any lease.
constexpr Millis lease_length(const LeaseTiming& timing) {
  const Millis length = timing.session - lease_margin(timing);
  return length > Millis{0} ? length : Millis{0};
}

/// The end of the lease that an answered write gives which was sent at `sent`.
constexpr MonoTime lease_end(MonoTime sent, const LeaseTiming& timing) {
  return sent + lease_length(timing);
}

/// A lease never shortens: answers may come out of order.
constexpr MonoTime extend_lease(MonoTime present_end, MonoTime sent, const LeaseTiming& timing) {
  const MonoTime end = lease_end(sent, timing);
  return end > present_end ? end : present_end;
}

/// Whether the session is long enough: the lease must cover at least two beats.
constexpr bool lease_is_possible(const LeaseTiming& timing) {
  return lease_length(timing) >= 2 * beat_interval(timing);
}

}  // namespace rota::zk
