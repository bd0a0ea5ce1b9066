// Which Caller a request has. Pure.
//
// Today a connection proves nothing, so everyone who reaches a port is the same principal with
// every right. A request that a follower passes on names the client it came from. Any client can
// write the same into a request's head, so such words must never give more than the connection
// itself has:
//   - rights and namespaces do not travel, and are the connection's own;
//   - the principal must be the connection's own, else the words are ignored as a whole;
//   - the address is for log lines alone, and the connection's address stands beside it, as `via`.
// What makes the address true is the network: whoever can reach a master's port is trusted not to
// lie about it. Masters' certificates shall take that place, and then let a master name other
// principals.
#pragma once

#include <string>

#include "common/base/caller.h"
#include "common_types.h"

namespace rota::rpc {

/// Everyone who reaches a port: the principal "local" with every right. `address`: host:port of the
/// peer.
Caller caller_of_connection(std::string address);

/// Of a request that a master passed on over this connection. The connection's own caller where
/// `told` is more than that may be, or is no address.
Caller caller_of_forwarded(const Caller& connection, const thrift::ForwardedCaller& told);

/// What a follower tells the leader of its caller.
thrift::ForwardedCaller to_wire(const Caller& caller);

}  // namespace rota::rpc
