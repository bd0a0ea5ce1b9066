// The client over Debian's libzookeeper_mt. Its log lines go to the channel "zookeeper".
#pragma once

#include "common/zk/client.h"

namespace rota::zk {

/// Starts a session (or attaches to one) without waiting for it. InvalidArgument: bad addresses;
/// Unavailable: names could not be resolved, or no resources; try later.
Result<std::unique_ptr<Client>> make_real_client(const ClientOptions& options,
                                                 EventHandler handler);

/// A short-lived client for one question (a command-line tool): waits for the handshake, at most
/// the operation deadline. Unavailable when nobody answered.
Result<std::unique_ptr<Client>> connect_once(const ClientOptions& options);

}  // namespace rota::zk
