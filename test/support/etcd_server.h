// A private etcd server for tests: own folder, own ports on 127.0.0.1, ended with the object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace rota::testing {

/// Whether Debian's etcd-server is installed.
bool has_etcd();

/// Thread: the one that starts it must outlive it (the server dies with that thread).
class EtcdServer {
 public:
  EtcdServer();
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  /// Starts it and waits until it answers. Also after kill, on the same ports and data.
  Result<void> start();
  /// Kills it with -9 and reaps it. Its data stay for the next start.
  void kill();
  std::uint16_t port() const { return port_; }
  /// The same server through another port, such as a proxy's.
  static std::string endpoint(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

 private:
  Result<void> wait_until_up();

  std::string folder_;
  std::uint16_t port_ = 0;
  std::uint16_t peer_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace rota::testing
