// A Thrift server that no bytes can harm: framed messages of at most 4 MiB, handlers in a pool off
// the I/O thread, bounded connections, limits on strings and containers, and a reaper for
// connections that are idle or drip. Used by master and worker for all their services.
#pragma once

#include <cstdint>
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
  std::uint16_t port = 0;             ///< 0: any free one; Server::port() tells which
  std::string name = "rpc";           ///< in log lines
  int threads = 64;                   ///< handlers at work at once
  int max_connections = 1024;         ///< beyond it new ones are closed at once
  std::size_t max_frame_bytes = kMaxFrameBytes;
  Millis idle_timeout{120'000};       ///< a connection without a request is closed after it
  Millis message_timeout{10'000};     ///< from the first byte of a request, or of taking an answer
};

/// Owned by Master and the worker proper. Start and stop may each be called once or more, from any
/// thread but a handler's. Thread: any.
class Server {
 public:
  /// The processor and its handlers live until stop() has returned. Handlers throw RotaError only.
  Server(std::shared_ptr<apache::thrift::TProcessor> processor, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds and serves on threads of its own; when it returns, connections are taken. Unavailable
  /// when the address can't be bound (the message names it). Starting twice is fine; a stopped
  /// server is not started again (make another).
  Result<void> start();

  /// Takes no more requests, waits for the handlers at work, closes all connections. Whoever makes
  /// handlers wait (reply tables, long polls) ends those waits first. Stopping twice is fine.
  void stop();

  /// The port that is listened on; 0 before start.
  std::uint16_t port() const;

  /// Connections now open. For status and tests.
  std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota::rpc
