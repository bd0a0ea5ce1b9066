// A private Galera cluster of three MariaDB servers for tests, on free ports of 127.0.0.1 and in a temporary
// folder, removed with the object. As root its servers run as `nobody`: rsync's daemon, by which a node gets a
// copy of another, can not serve root.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/mysql/mysql_options.h"

namespace rota::testing {

/// Thread: the one that starts it must outlive it (the servers die with that thread).
class GaleraCluster {
 public:
  static constexpr std::size_t kNodes = 3;

  /// That of this test program. When it cannot be started, it ends the program.
  static GaleraCluster& shared();
  static Result<std::unique_ptr<GaleraCluster>> start();
  ~GaleraCluster();
  GaleraCluster(const GaleraCluster&) = delete;
  GaleraCluster& operator=(const GaleraCluster&) = delete;

  std::uint16_t port(std::size_t node) const { return nodes_[node].port; }
  /// A new empty database, as each node shows it.
  std::string fresh_database();
  /// Through one node; without hosts.
  master::store::MysqlOptions options(std::size_t node, const std::string& database) const;
  /// Runs SQL text as root on one node; gives its output.
  Result<std::string> sql(std::size_t node, const std::string& text, const std::string& database = "") const;
  std::string status(std::size_t node, const std::string& name) const;

  void kill_hard(std::size_t node);
  void freeze(std::size_t node);  ///< SIGSTOP: the others see nothing of it, and it nothing of them
  void thaw(std::size_t node);
  /// Cuts it off from the other nodes, but not from its clients; false: no longer.
  Result<void> isolate(std::size_t node, bool is_cut = true) const;
  /// Starts a node that was killed and waits until it has all of the others'. `emptied`: without its data,
  /// so that it gets a copy of all (SST) instead of what it missed (IST).
  Result<void> come_back(std::size_t node, bool emptied = false);
  /// Waits until the node is one of so many in the primary component, and ready.
  bool await_whole(std::size_t node, std::size_t nodes = kNodes) const;
  /// What the node wrote to its log.
  std::string log(std::size_t node) const;

 private:
  struct Node {
    std::string folder;
    std::uint16_t port = 0;    ///< for clients
    std::uint16_t group = 0;   ///< the others'
    std::uint16_t copies = 0;  ///< SST
    std::uint16_t missed = 0;  ///< IST
    pid_t pid = -1;
  };

  GaleraCluster();
  Result<void> install(std::size_t node) const;
  Result<void> start_node(std::size_t node, bool is_first);
  std::string addresses() const;

  std::string folder_;
  std::array<Node, kNodes> nodes_;
  int databases_ = 0;
};

}  // namespace rota::testing
