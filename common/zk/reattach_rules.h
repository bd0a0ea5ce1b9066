// When a session gets a new handle. Pure.
//
// A server refuses a handle that has seen a later change than the server itself knows, and the library
// tries on forever: so it is after ZooKeeper lost its data, or came back from an older copy. A new
// handle with the same session id and password has seen nothing, and every server takes it: either the
// session is still known and goes on, or it is told that it has expired. A new session made without
// asking would leave the old one's nodes behind as ghosts wherever the outage was only long.
#pragma once

#include "common/base/time.h"

namespace rota::zk {

/// Without a connection for the negotiated timeout. The old handle had that long to come back by
/// itself, which after a short outage it does; a session that outlives its timeout is none the poorer.
constexpr Millis reattach_after(Millis negotiated_timeout) { return negotiated_timeout; }

constexpr bool must_reattach(MonoTime cut_since, Millis negotiated_timeout, MonoTime now) {
  return now - cut_since >= reattach_after(negotiated_timeout);
}

}  // namespace rota::zk
