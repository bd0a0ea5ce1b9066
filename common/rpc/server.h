// A Thrift server that no bytes can harm: framed messages of at most 4 MiB, handlers in a thread pool
// beside the I/O thread, bounded connections, limits on strings and containers, and a reaper for
// connections that are idle or very slow. Master and worker use it for all their services.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace apache::thrift {
class TProcessor;
}

namespace rota::rpc {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{4} << 20;
inline constexpr int kMaxContainerItems = 65'536;

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;             ///< 0: any free one; Server::port() says which
  std::string name = "rpc";           ///< in log lines
  int threads = 64;                   ///< handlers that run at once
  int max_connections = 1024;         ///< further ones are closed at once
  std::size_t max_frame_bytes = kMaxFrameBytes;
  Millis idle_timeout{120'000};       ///< after it, a connection without a request is closed
  Millis message_timeout{10'000};     ///< for receiving a request, and for sending an answer
};

/// Makes the processor of one connection, whose client's end is at `peer` (host:port). Called on an
/// I/O thread: it must not block or throw.
using ProcessorOf =
    std::function<std::shared_ptr<apache::thrift::TProcessor>(const std::string& peer)>;

/// Owned by Master and the worker proper. Start and stop may each be called once or more, from any
/// thread except a handler's. Thread: any.
class Server {
 public:
  /// The processors and their handlers must live until stop() has returned. Handlers throw only
  /// RotaError.
  Server(ProcessorOf processor_of, ServerOptions options);
  /// One processor for all, which does not learn who calls: for stand-ins of tests and benchmarks.
  Server(std::shared_ptr<apache::thrift::TProcessor> processor, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds and serves on threads of its own; when it returns, the server accepts connections. Unavailable
  /// when the address cannot be bound (the message names it). A second start is fine; a stopped
  /// server cannot be started again (make another).
  Result<void> start();

  /// Accepts no more requests, waits for the running handlers, closes all connections. The caller must
  /// first end the waits of handlers (reply tables, long polls). A second stop is fine.
  void stop();

  /// The port on which it listens; 0 before start.
  std::uint16_t port() const;

  /// The number of open connections. For status and tests.
  std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota::rpc
