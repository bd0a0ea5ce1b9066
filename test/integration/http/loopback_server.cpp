#include "test/integration/http/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/check.h"

namespace rota::testing {

namespace {

constexpr int kLookEveryMs = 20;

/// Waits until there are bytes or the end of the stream; false: the server ends.
bool wait_readable(int fd, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd item{fd, POLLIN, 0};
    if (::poll(&item, 1, kLookEveryMs) > 0) return true;
  }
  return false;
}

std::size_t length_in(const std::string& head) {
  const std::size_t at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(std::atoll(head.c_str() + at + 16));
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

std::string LoopbackServer::Request::path() const {
  const std::size_t start = head.find(' ') + 1;
  return head.substr(start, head.find(' ', start) - start);
}

LoopbackServer::LoopbackServer(Answer answer)
    : answer_(std::move(answer)), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  CHECK_OR_DIE(::bind(listening_.get(), plain, size) == 0 && ::listen(listening_.get(), 64) == 0 &&
                   ::getsockname(listening_.get(), plain, &size) == 0,
               "the loopback takes a server");
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](std::stop_token stop) { serve(std::move(stop)); });
}

LoopbackServer::~LoopbackServer() = default;

std::string LoopbackServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<LoopbackServer::Request> LoopbackServer::requests() const {
  std::scoped_lock lock(mutex_);
  return requests_;
}

int LoopbackServer::hung_up() const {
  std::scoped_lock lock(mutex_);
  return hung_up_;
}

void LoopbackServer::serve(std::stop_token stop) {
  while (wait_readable(listening_.get(), stop)) {
    const UniqueFd connection(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.is_open()) attend(connection.get(), stop);
  }
}

void LoopbackServer::attend(int connection, std::stop_token stop) {
  std::string bytes;
  std::size_t end = std::string::npos, length = 0;
  char scratch[65'536];
  while (end == std::string::npos || bytes.size() < end + 4 + length) {
    if (!wait_readable(connection, stop)) return;
    const ssize_t got = ::read(connection, scratch, sizeof scratch);
    if (got <= 0) return;
    bytes.append(scratch, static_cast<std::size_t>(got));
    if (end != std::string::npos) continue;
    end = bytes.find("\r\n\r\n");
    if (end != std::string::npos) length = length_in(bytes.substr(0, end + 2));
  }
  const Request request{bytes.substr(0, end + 2), bytes.substr(end + 4, length)};
  {
    std::scoped_lock lock(mutex_);
    requests_.push_back(request);
  }
  const std::string answer = answer_(request);
  if (!answer.empty()) return send_all(connection, answer);
  if (!wait_readable(connection, stop)) return;
  std::scoped_lock lock(mutex_);
  ++hung_up_;
}

std::string http_answer(int status, const std::string& body, const std::string& head_lines) {
  return "HTTP/1.1 " + std::to_string(status) + " Said\r\n" + head_lines +
         "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace rota::testing
