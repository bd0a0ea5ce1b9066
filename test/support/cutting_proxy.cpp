#include "test/support/cutting_proxy.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstring>

#include "common/base/check.h"
#include "common/base/time.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"

namespace rota::testing {
namespace {

bool send_all(int fd, const char* bytes, std::size_t size) {
  for (std::size_t sent = 0; sent < size;) {
    const ssize_t n = ::send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void poke(const UniqueFd& wake) {
  const std::uint64_t one = 1;
  if (::write(wake.get(), &one, sizeof one) < 0) return;  // it is already awake
}

}  // namespace

CuttingProxy::CuttingProxy(std::uint16_t server_port)
    : server_port_(server_port),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  CHECK_OR_DIE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  CHECK_OR_DIE(::listen(listener_.get(), 16) == 0, "listen");
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

CuttingProxy::~CuttingProxy() {
  stopping_ = true;
  poke(wake_);
  thread_.join();
}

void CuttingProxy::at(const std::string& bytes, Deed deed) {
  const std::scoped_lock lock(mutex_);
  armed_bytes_ = bytes;
  armed_deed_ = deed;
  done_ = false;
  released_ = false;
}

bool CuttingProxy::wait_until_done() {
  for (const MonoTime end = BootClock::now() + kPatience; BootClock::now() < end;) {
    if (done_) return true;
    std::this_thread::sleep_for(Millis{2});
  }
  return false;
}

void CuttingProxy::release() {
  released_ = true;
  poke(wake_);
}

bool CuttingProxy::meets_deed(const std::string& packet, Deed& deed) {
  const std::scoped_lock lock(mutex_);
  if (armed_bytes_.empty() || packet.find(armed_bytes_) == std::string::npos) return false;
  deed = armed_deed_;
  armed_bytes_.clear();
  return true;
}

void CuttingProxy::accept_one() {
  Link link;
  link.client.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  link.server.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback_address(server_port_);
  if (::connect(link.server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    links_.push_back(std::move(link));
  }
}

/// False: the link is over.
bool CuttingProxy::from_client(Link& link) {
  char buffer[64 * 1024];
  const ssize_t n = ::recv(link.client.get(), buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  const std::string packet(buffer, static_cast<std::size_t>(n));
  if (Deed deed{}; meets_deed(packet, deed)) {
    if (deed == Deed::CutBefore) {
      done_ = true;
      return false;
    }
    if (deed == Deed::Hold) {
      link.held = packet;
      done_ = true;
      return true;
    }
    link.lose_answer = true;
  }
  return send_all(link.server.get(), packet.data(), packet.size());
}

bool CuttingProxy::from_server(Link& link) {
  char buffer[64 * 1024];
  const ssize_t n = ::recv(link.server.get(), buffer, sizeof buffer, 0);
  if (link.lose_answer) {
    done_ = true;
    return false;
  }
  return n > 0 && send_all(link.client.get(), buffer, static_cast<std::size_t>(n));
}

void CuttingProxy::serve() {
  while (!stopping_) {
    std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    for (const Link& link : links_) {
      fds.push_back({link.client.get(), POLLIN, 0});
      fds.push_back({link.server.get(), POLLIN, 0});
    }
    if (::poll(fds.data(), fds.size(), 1000) < 0) continue;
    std::uint64_t ignored = 0;
    if (::read(wake_.get(), &ignored, sizeof ignored) < 0) ignored = 0;
    std::vector<Link> open;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Link& link = links_[i];
      bool alive = true;
      if (released_ && !link.held.empty()) {
        alive = send_all(link.server.get(), link.held.data(), link.held.size());
        link.held.clear();
      }
      if (alive && fds[2 + 2 * i].revents != 0) alive = from_client(link);
      if (alive && fds[3 + 2 * i].revents != 0) alive = from_server(link);
      if (alive) open.push_back(std::move(link));
    }
    links_ = std::move(open);
    if (fds[0].revents != 0) accept_one();
  }
}

}  // namespace rota::testing
