// The idle reaper. TNonblockingServer has no time limits of its own, so each accepted socket tells
// this watch what it is doing, and the watch shuts down sockets that take too long.
#pragma once

#include <thrift/transport/TNonblockingServerSocket.h>
#include <thrift/transport/TSocket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "common/base/time.h"

namespace rota::rpc {

class WatchedSocket;

struct WatchLimits {
  Millis idle{120'000};
  Millis message{10'000};
  std::size_t max_connections = 1024;
};

/// Knows every open connection of a server; outlives them (they hold it). Thread: any.
class ConnectionWatch {
 public:
  explicit ConnectionWatch(WatchLimits limits) : limits_(limits) {}

  /// Shuts down connections that have been idle, or in the middle of a message, for too long. When most
  /// places are taken, it closes idle connections sooner, the longest idle first. Returns how many.
  std::size_t sweep(MonoTime now);
  std::size_t open() const;

 private:
  friend class WatchedSocket;
  void add(WatchedSocket* socket);
  void remove(WatchedSocket* socket);

  const WatchLimits limits_;
  mutable std::mutex mutex_;
  std::set<WatchedSocket*> sockets_;
};

/// An accepted connection. Thread: the server's I/O thread, and the watch.
class WatchedSocket final : public apache::thrift::transport::TSocket {
 public:
  WatchedSocket(int fd, std::shared_ptr<ConnectionWatch> watch);
  ~WatchedSocket() override;

  std::uint32_t read(std::uint8_t* buffer, std::uint32_t length) override;
  std::uint32_t write_partial(const std::uint8_t* bytes, std::uint32_t length) override;
  void close() override;
  /// host:port of the client's end; empty when it was gone before it was accepted.
  const std::string& peer() const { return peer_; }

 private:
  friend class ConnectionWatch;
  // Idle -> Reading (first byte of a frame) -> Handling (its last byte) -> Writing -> Idle.
  // Handling has no limit here: handlers have deadlines of their own.
  enum class Phase { Idle, Reading, Handling, Writing };

  void enter(Phase phase);
  void count_frame(const std::uint8_t* bytes, std::uint32_t length);
  Micros idle_for(MonoTime now) const;  // 0 when not idle
  bool is_over(const WatchLimits& limits, MonoTime now) const;
  void shut_down();

  const std::shared_ptr<ConnectionWatch> watch_;
  const std::string peer_;
  std::atomic<Phase> phase_{Phase::Idle};
  std::atomic<MonoTime> since_;
  std::array<std::uint8_t, 4> header_{};
  std::uint32_t header_have_ = 0;
  std::uint32_t body_left_ = 0;
  std::mutex closing_;  // the descriptor's number must not be reused while the watch uses it
  bool closed_ = false;
};

/// Accepts WatchedSockets, close-on-exec like the listening socket itself.
class WatchedListener final : public apache::thrift::transport::TNonblockingServerSocket {
 public:
  WatchedListener(const std::string& host, int port, std::shared_ptr<ConnectionWatch> watch);

 protected:
  std::shared_ptr<apache::thrift::transport::TSocket> createSocket(int fd) override;

 private:
  const std::shared_ptr<ConnectionWatch> watch_;
};

}  // namespace rota::rpc
