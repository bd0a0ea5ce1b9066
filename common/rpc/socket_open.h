// Opening a TCP connection within a deadline.
#pragma once

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "common/rpc/endpoint.h"

namespace rota::rpc {

struct Opened {
  UniqueFd fd;           ///< non-blocking, close-on-exec, TCP_NODELAY; closed when it failed
  bool refused = false;  ///< the port refused
  std::string trouble;   ///< for people, when it failed
};

/// Tries each address that the host has. Names are resolved by the system, which has time limits of
/// its own; numbers and localhost need no server.
Opened open_socket(const Endpoint& endpoint, MonoTime deadline);

/// Waits until the socket has one of the poll events. False when the deadline has passed.
bool poll_until(int fd, short events, MonoTime deadline);

}  // namespace rota::rpc
