#include "test/support/tcp_proxy.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "common/base/check.h"
#include "test/support/loopback.h"

namespace rota::testing {

namespace {

constexpr int kPollMs = 20;

UniqueFd new_socket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

TcpProxy::TcpProxy(std::uint16_t target) : target_(target), listener_(new_socket()) {
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  const bool listens = ::bind(listener_.get(), plain, size) == 0 &&
                       ::listen(listener_.get(), 16) == 0 &&
                       ::getsockname(listener_.get(), plain, &size) == 0;
  CHECK_OR_DIE(listens, "a proxy needs a port of 127.0.0.1");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { loop(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  thread_.join();
}

void TcpProxy::loop() {
  while (!stopping_) {
    if (cut_) {
      other_end_.clear();
      ends_.clear();
    }
    std::vector<pollfd> waits;
    if (!silent_) {
      waits.push_back({listener_.get(), POLLIN, 0});
      for (const auto& [fd, end] : ends_) waits.push_back({fd, POLLIN, 0});
    }
    ::poll(waits.data(), waits.size(), kPollMs);
    if (silent_) continue;
    for (const auto& each : waits) {
      if (each.revents == 0) continue;
      if (each.fd == listener_.get()) {
        accept_one();
      } else if (const auto other = other_end_.find(each.fd); other != other_end_.end()) {
        const int to = other->second;
        if (relay(each.fd, to)) continue;
        for (const int fd : {each.fd, to}) {
          other_end_.erase(fd);
          ends_.erase(fd);
        }
      }
    }
  }
}

void TcpProxy::accept_one() {
  UniqueFd here(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  UniqueFd there = new_socket();
  const sockaddr_in address = loopback_address(target_);
  if (cut_ || !here.is_open() ||
      ::connect(there.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return;  // refused: the caller sees its connection closed
  }
  const int at_once = 1;
  for (const int fd : {here.get(), there.get()}) {
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  }
  other_end_[here.get()] = there.get();
  other_end_[there.get()] = here.get();
  const int a = here.get();
  const int b = there.get();
  ends_[a] = std::move(here);
  ends_[b] = std::move(there);
}

bool TcpProxy::relay(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t n = ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent),
                             MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += n;
  }
  return true;
}

}  // namespace rota::testing
