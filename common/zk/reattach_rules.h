// When a session gets a new handle. Pure.
//
// A server refuses a handle that has seen a later change than the server itself knows, and the library
// then retries forever. This happens after ZooKeeper lost its data or came back from an older copy. A new
// handle with the same session id and password has seen nothing, so every server accepts it: either the
// session is still known and continues, or the server says that it has expired. If we started a new session
// without asking, the old session's nodes would remain as ghosts after each outage that was only long.
#pragma once

#include "common/base/time.h"

namespace rota::zk {

/// After the negotiated timeout without a connection. The old handle had that time to come back by itself,
/// which it does after a short outage; a session that outlives its timeout loses nothing by it.
constexpr Millis reattach_after(Millis negotiated_timeout) { return negotiated_timeout; }

constexpr bool must_reattach(MonoTime cut_since, Millis negotiated_timeout, MonoTime now) {
  return now - cut_since >= reattach_after(negotiated_timeout);
}

}  // namespace rota::zk
