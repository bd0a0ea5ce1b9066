// A small HTTP server for people and monitoring: answers only GET and HEAD, from memory. Not for the API,
// which uses Thrift. One thread, and limits on connections, on their memory and on their time, so that
// clients cannot cost the process more than that (P24).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::http {

struct Request {
  std::string path;                     ///< without the query, at most 8 KiB
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

/// Called on the server's thread: it must not wait for anything. An exception is answered with 500.
using Answer = std::function<Response(const Request&)>;

struct ServerOptions {
  std::string host = "127.0.0.1";       ///< an IP address, or localhost
  std::uint16_t port = 0;               ///< 0: any free one
  unsigned most_connections = 64;
  std::size_t connection_bytes = 16u << 10;  ///< request line and headers must fit into it
  Millis idle{10'000};                  ///< a connection without a byte for this time is closed
};

/// Owner: the process's main part. Thread: start and stop by one; the answer runs on a thread of its own.
class Server {
 public:
  Server(ServerOptions options, Answer answer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Unavailable: the port is taken. InvalidArgument: the host is no address.
  Result<void> start();
  /// Waits for the present answer. A second call is fine.
  void stop();
  std::uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota::http
