// Who is at the other end of an accepted connection, as the socket knows it.
#pragma once

#include <sys/socket.h>

#include <string>

namespace rota::rpc {

/// "192.0.2.7:40000" or "[2001:db8::7]:40000"; an IPv4 client of an IPv6 socket is shown as IPv4.
/// Empty for other families. Pure.
std::string text_of(const sockaddr_storage& address);

/// Of the connection's other end; empty when it is gone already.
std::string peer_of(int fd);

}  // namespace rota::rpc
