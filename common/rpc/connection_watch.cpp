#include "common/rpc/connection_watch.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "common/rpc/peer_address.h"

namespace rota::rpc {

namespace transport = apache::thrift::transport;

void ConnectionWatch::add(WatchedSocket* socket) {
  std::scoped_lock lock(mutex_);
  sockets_.insert(socket);
}

void ConnectionWatch::remove(WatchedSocket* socket) {
  std::scoped_lock lock(mutex_);
  sockets_.erase(socket);
}

std::size_t ConnectionWatch::open() const {
  std::scoped_lock lock(mutex_);
  return sockets_.size();
}

std::size_t ConnectionWatch::sweep(MonoTime now) {
  constexpr Micros kIdleWhenCrowded = std::chrono::seconds{1};
  std::scoped_lock lock(mutex_);
  std::size_t cut = 0;
  std::vector<std::pair<Micros, WatchedSocket*>> idle;
  for (WatchedSocket* socket : sockets_) {
    if (socket->is_over(limits_, now)) {
      socket->shut_down();
      ++cut;
    } else if (socket->idle_for(now) >= kIdleWhenCrowded) {
      idle.emplace_back(socket->idle_for(now), socket);
    }
  }
  const std::size_t left = sockets_.size() - cut;
  if (left <= limits_.max_connections / 8 * 7) return cut;
  std::ranges::sort(idle, std::greater{});
  const std::size_t wanted = left - limits_.max_connections / 4 * 3;
  for (std::size_t i = 0; i < std::min(wanted, idle.size()); ++i, ++cut) idle[i].second->shut_down();
  return cut;
}

WatchedSocket::WatchedSocket(int fd, std::shared_ptr<ConnectionWatch> watch)
    : TSocket(fd), watch_(std::move(watch)), peer_(peer_of(fd)), since_(BootClock::now()) {
  watch_->add(this);
}

WatchedSocket::~WatchedSocket() {
  watch_->remove(this);
  WatchedSocket::close();
}

std::uint32_t WatchedSocket::read(std::uint8_t* buffer, std::uint32_t length) {
  const std::uint32_t got = TSocket::read(buffer, length);
  if (got > 0) count_frame(buffer, got);
  return got;
}

std::uint32_t WatchedSocket::write_partial(const std::uint8_t* bytes, std::uint32_t length) {
  if (phase_.load() != Phase::Writing) enter(Phase::Writing);
  const std::uint32_t put = TSocket::write_partial(bytes, length);
  if (put == length) enter(Phase::Idle);
  return put;
}

void WatchedSocket::close() {
  {
    std::scoped_lock lock(closing_);
    if (closed_) return;
    closed_ = true;
    TSocket::close();
  }
  watch_->remove(this);
}

void WatchedSocket::enter(Phase phase) {
  since_.store(BootClock::now());
  phase_.store(phase);
}

void WatchedSocket::count_frame(const std::uint8_t* bytes, std::uint32_t length) {
  if (phase_.load() != Phase::Reading) {
    header_have_ = 0;
    enter(Phase::Reading);
  }
  while (length > 0 && header_have_ < header_.size()) {
    header_[header_have_++] = *bytes++;
    --length;
    if (header_have_ == header_.size()) {
      body_left_ = 0;
      for (const std::uint8_t byte : header_) body_left_ = (body_left_ << 8) | byte;
    }
  }
  if (header_have_ < header_.size()) return;
  body_left_ -= std::min(body_left_, length);
  if (body_left_ == 0) enter(Phase::Handling);
}

Micros WatchedSocket::idle_for(MonoTime now) const {
  return phase_.load() == Phase::Idle ? now - since_.load() : Micros{0};
}

bool WatchedSocket::is_over(const WatchLimits& limits, MonoTime now) const {
  const Micros age = now - since_.load();
  switch (phase_.load()) {
    case Phase::Idle: return age > limits.idle;
    case Phase::Reading:
    case Phase::Writing: return age > limits.message;
    case Phase::Handling: return false;
  }
  return false;
}

void WatchedSocket::shut_down() {
  std::scoped_lock lock(closing_);
  // The I/O thread then reads the end of the stream and closes the connection itself.
  if (!closed_) ::shutdown(getSocketFD(), SHUT_RDWR);
}

WatchedListener::WatchedListener(const std::string& host, int port,
                                 std::shared_ptr<ConnectionWatch> watch)
    : TNonblockingServerSocket(host, port), watch_(std::move(watch)) {
  const auto close_on_exec = [](int fd) { ::fcntl(fd, F_SETFD, FD_CLOEXEC); };
  setListenCallback(close_on_exec);
  setAcceptCallback(close_on_exec);
  setKeepAlive(true);
}

std::shared_ptr<transport::TSocket> WatchedListener::createSocket(int fd) {
  return std::make_shared<WatchedSocket>(fd, watch_);
}

}  // namespace rota::rpc
