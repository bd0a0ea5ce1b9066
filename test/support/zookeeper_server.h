// A private ZooKeeper server for one test: own folder, own port on 127.0.0.1, ended with the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::testing {

/// Whether Debian's libzookeeper-java and a Java are installed.
bool has_zookeeper();

/// Thread: the one that starts it must outlive it (the server dies with that thread). It takes Debian's jar; tickTime 500 unless said otherwise.
class ZookeeperServer {
 public:
  explicit ZookeeperServer(Millis tick = Millis{500});
  ~ZookeeperServer();
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;

  /// Starts it and waits until it answers (about half a second). Also after kill.
  Result<void> start();
  /// kill -9, and reaped. Its data stays for the next start.
  void kill();
  /// SIGSTOP: it holds its connections and answers nothing.
  void freeze();
  void thaw();

  /// For ZooKeeper clients: 127.0.0.1:port.
  std::string address() const;
  std::uint16_t port() const { return port_; }
  Millis tick() const { return tick_; }

 private:
  Result<void> write_configuration();
  Result<void> wait_until_up();

  const Millis tick_;
  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace rota::testing
