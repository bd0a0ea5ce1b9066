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

/// Thread: the one that starts it must outlive it (the server dies with that thread). It uses
/// Debian's jar; tickTime is 500 by default.
class ZookeeperServer {
 public:
  explicit ZookeeperServer(Millis tick = Millis{500});
  ~ZookeeperServer();
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;

  /// Makes it a member of an ensemble: its number, and its view of all members' ports, as lines of
  /// its configuration. Before the first start.
  void join_ensemble(int number, std::string lines);
  /// Starts it and waits until it answers (about half a second). Also after kill, on the same port.
  Result<void> start();
  /// The two halves of start, for ensembles: a single member answers only in a quorum.
  Result<void> launch();
  Result<void> wait_until_up();
  /// Kills it with -9 and reaps it. Its data stays for the next start.
  void kill();
  /// While it does not run: saves its data under that name, restores it from there, or deletes it.
  bool keep_data(const std::string& name) const;
  bool put_data_back(const std::string& name) const;
  bool lose_data() const;
  /// SIGSTOP: it keeps its connections and answers nothing; returns when its last thread has stopped.
  void freeze();
  void thaw();

  /// For ZooKeeper clients: 127.0.0.1:port.
  std::string address() const;
  std::uint16_t port() const { return port_; }
  Millis tick() const { return tick_; }
  /// "leader", "follower" or "standalone"; empty when it does not serve.
  std::string mode() const;

 private:
  Result<void> write_configuration();

  const Millis tick_;
  int number_ = 0;
  std::string ensemble_;
  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace rota::testing
