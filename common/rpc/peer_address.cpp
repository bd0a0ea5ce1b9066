#include "common/rpc/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

#include "common/rpc/endpoint.h"

namespace rota::rpc {
namespace {

std::string with_port(int family, const void* host, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, host, text.data(), text.size()) == nullptr) return "";
  return to_string(Endpoint{text.data(), ntohs(port)});
}

}  // namespace

std::string text_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in ip{};
    std::memcpy(&ip, &address, sizeof(ip));
    return with_port(AF_INET, &ip.sin_addr, ip.sin_port);
  }
  if (address.ss_family != AF_INET6) return "";
  sockaddr_in6 ip{};
  std::memcpy(&ip, &address, sizeof(ip));
  if (!IN6_IS_ADDR_V4MAPPED(&ip.sin6_addr)) return with_port(AF_INET6, &ip.sin6_addr, ip.sin6_port);
  constexpr std::size_t kPrefix = 12;  // bytes of ::ffff:0:0/96
  return with_port(AF_INET, &ip.sin6_addr.s6_addr[kPrefix], ip.sin6_port);
}

std::string peer_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "";
  return text_of(address);
}

}  // namespace rota::rpc
