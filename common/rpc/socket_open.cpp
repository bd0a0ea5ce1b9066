#include "common/rpc/socket_open.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace rota::rpc {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string text_of(int error) { return std::generic_category().message(error); }

AddressList resolve(const Endpoint& endpoint, std::string& trouble) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (code != 0) trouble = ::gai_strerror(code);
  return AddressList(code == 0 ? found : nullptr, &::freeaddrinfo);
}

int connect_one(const addrinfo& address, MonoTime deadline, UniqueFd& fd) {
  fd.reset(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return errno;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!poll_until(fd.get(), POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof(error);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

}  // namespace

bool poll_until(int fd, short events, MonoTime deadline) {
  for (;;) {
    const Micros left = deadline - BootClock::now();
    if (left <= Micros{0}) return false;
    pollfd entry{fd, events, 0};
    const auto wait_ms = std::clamp<std::int64_t>((left.count() + 999) / 1000, 1, 60'000);
    const int ready = ::poll(&entry, 1, static_cast<int>(wait_ms));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next read or write gets the error
  }
}

Opened open_socket(const Endpoint& endpoint, MonoTime deadline) {
  Opened out;
  const AddressList addresses = resolve(endpoint, out.trouble);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const int error = connect_one(*at, deadline, out.fd);
    if (error == 0) {
      const int on = 1;
      ::setsockopt(out.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      ::setsockopt(out.fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
      out.trouble.clear();
      out.refused = false;
      return out;
    }
    out.refused = error == ECONNREFUSED;
    out.trouble = error == ETIMEDOUT ? "no answer to the connection" : text_of(error);
  }
  out.fd.reset();
  return out;
}

}  // namespace rota::rpc
