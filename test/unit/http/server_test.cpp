#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/unique_fd.h"
#include "common/http/server.h"

using namespace rota;
using http::Request;
using http::Response;
using http::Server;

namespace {

Response answer_of(const Request& request) {
  if (request.path == "/bad") throw std::runtime_error("told to");
  if (request.path != "/") return {404, "none\n"};
  return {200, "hello\n"};
}

UniqueFd dial(std::uint16_t port, int patience_s = 120) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval deadline{patience_s, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
  REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

/// All that comes back until the server closes.
std::string ask(std::uint16_t port, const std::string& request, int patience_s = 120) {
  const UniqueFd fd = dial(port, patience_s);
  std::size_t sent = 0;
  while (sent < request.size()) {
    const ssize_t count = ::send(fd.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  std::string all;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(fd.get(), part, sizeof part)) > 0;) {
    all.append(part, static_cast<std::size_t>(got));
  }
  return all;
}

std::string get(std::uint16_t port, const std::string& path, const std::string& method = "GET") {
  return ask(port, method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

}  // namespace

TEST_CASE("http server: answers GET and HEAD, refuses methods that change something") {
  Server server({}, answer_of);
  REQUIRE(server.start());
  const auto port = server.port();
  CHECK(get(port, "/").starts_with("HTTP/1.1 200"));
  CHECK(get(port, "/").ends_with("hello\n"));
  const std::string head = get(port, "/", "HEAD");
  CHECK(head.starts_with("HTTP/1.1 200"));
  CHECK_FALSE(head.ends_with("hello\n"));
  CHECK(get(port, "/other").starts_with("HTTP/1.1 404"));
  CHECK(get(port, "/bad").starts_with("HTTP/1.1 500"));
  const std::string post = ask(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nx");
  CHECK(post.starts_with("HTTP/1.1 405"));
  CHECK(get(port, "/").ends_with("hello\n"));
}

TEST_CASE("http server: a long request, garbage and too many connections do no harm") {
  http::ServerOptions options;
  options.most_connections = 8;
  Server server(options, answer_of);
  REQUIRE(server.start());
  const auto port = server.port();
  const std::string long_request = "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n";
  CHECK(ask(port, long_request, 2).find(" 200 ") == std::string::npos);
  CHECK(ask(port, std::string("\0\xff\x16\x03\r\n\r\n", 8), 2).find(" 200 ") == std::string::npos);
  {
    std::vector<UniqueFd> idle;
    for (int i = 0; i < 30; ++i) idle.push_back(dial(port));
  }
  std::string last;
  for (int i = 0; i < 200 && !last.ends_with("hello\n"); ++i) last = get(port, "/");
  CHECK(last.ends_with("hello\n"));
}

TEST_CASE("http server: names a taken port and an invalid host") {
  Server first({}, answer_of);
  REQUIRE(first.start());
  http::ServerOptions same;
  same.port = first.port();
  Server second(same, answer_of);
  const auto refused = second.start();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(std::to_string(first.port())) != std::string::npos);
  http::ServerOptions nowhere;
  nowhere.host = "example.org";
  CHECK(Server(nowhere, answer_of).start().error().code == ErrorCode::InvalidArgument);
}
