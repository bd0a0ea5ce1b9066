// The one address that tests listen on and talk to.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <set>

#include "common/base/random.h"
#include "common/base/unique_fd.h"

namespace rota::testing {

/// `port` of 127.0.0.1; 0: one that is free.
inline sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A port of 127.0.0.1 that is free now, for a server that is started next: none of those that the kernel hands
/// out by itself, so that no client can sit on it meanwhile, nor while the server is away; and none of those that
/// scripts/cluster takes. 0: there is none. Thread: one.
inline std::uint16_t free_port() {
  static std::set<std::uint16_t> given;  // what is not listened on yet looks free
  constexpr std::uint16_t kFirst = 9'000, kCount = 6'000;
  for (int i = 0; i < 1'000; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirst + random_u64() % kCount);
    const sockaddr_in address = loopback_address(port);
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && given.insert(port).second) {
      return port;
    }
  }
  return 0;
}

}  // namespace rota::testing
