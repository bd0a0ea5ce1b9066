// The one address that tests listen on and connect to.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/base/random.h"
#include "common/base/unique_fd.h"

namespace rota::testing {

/// `port` of 127.0.0.1; 0: a free one.
inline sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Reserves the port for this test program until it ends, by a name that only one program can have and that needs
/// no file. Not open: another program has reserved it; its server has not started yet, or is away.
inline UniqueFd claim_on(std::uint16_t port) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "rota-test-port-" + std::to_string(port);
  text.copy(name.sun_path + 1, sizeof name.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  UniqueFd claim(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool is_taken =
      ::bind(claim.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0 && errno == EADDRINUSE;
  if (is_taken) claim.reset();
  return claim;
}

/// A free port of 127.0.0.1 for a server that starts next. It is not one that the kernel assigns by itself, so that
/// no client can occupy it now or while the server is away; not one that scripts/cluster uses; and not one that
/// another test program has reserved. 0: there is none. Thread: one.
inline std::uint16_t free_port() {
  static std::map<std::uint16_t, UniqueFd> given;  // a port without a listener still looks free
  constexpr std::uint16_t kFirst = 9'000, kCount = 6'000;
  for (int i = 0; i < 1'000; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirst + random_u64() % kCount);
    if (given.contains(port)) continue;
    UniqueFd claim = claim_on(port);
    const sockaddr_in address = loopback_address(port);
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (claim.is_open() && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      given.emplace(port, std::move(claim));
      return port;
    }
  }
  return 0;
}

}  // namespace rota::testing
