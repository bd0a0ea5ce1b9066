// Named locks as ephemeral nodes in ZooKeeper: /rota/CLUSTER/locks/NAME. Who makes the node has the lock,
// until he removes it or his session ends; the node's creation id is the fencing token. Who waits asks
// again after 50 to 150 ms: locks are held for seconds and wanted by few, and no queue of nodes must be
// mended when somebody in it dies.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/zk/paths.h"
#include "common/zk/session.h"
#include "worker/sdk/lock.h"

namespace rota::worker::locks {

/// One session for all locks of this process, begun with the first of them. Owner: the worker, or a
/// handler's own process; the locks that it gave must end before it. Thread: any.
class ZkLocks final : public sdk::LockService, private zk::SessionObserver {
 public:
  ZkLocks(zk::ClientFactory factory, sdk::LockAddress address);
  ~ZkLocks() override;
  ZkLocks(const ZkLocks&) = delete;
  ZkLocks& operator=(const ZkLocks&) = delete;

  Result<std::unique_ptr<sdk::HeldLock>> take(const std::string& name, const std::string& owner,
                                              Millis at_most, const Waiting& wait) override;

  /// A node that this process made, and the session in which it did.
  struct Taken {
    std::shared_ptr<zk::Client> client;
    std::string path;
    std::string data;                  ///< with a word that nobody else writes
  };
  /// Called by the locks themselves.
  void give_back(const Taken& taken);
  bool is_current(const Taken& taken) const;

 private:
  struct Try;
  void session_began(zk::Client&) override {}
  void session_resumed(zk::Client&) override { give_back_pending(); }
  void session_ended() override;

  Result<std::unique_ptr<sdk::HeldLock>> take_within(Try& attempt, Millis at_most, const Waiting& wait);
  Result<std::unique_ptr<sdk::HeldLock>> try_once(Try& attempt);
  bool is_given_back(const Taken& taken);
  void give_back_pending();

  const zk::Paths paths_;
  zk::Session session_;
  std::mutex mutex_;
  std::vector<Taken> pending_;  ///< could not be removed: once ZooKeeper is back, or with their session
};

/// Over the real ZooKeeper; null when the address names none.
std::unique_ptr<sdk::LockService> make_locks(const sdk::LockAddress& address);

}  // namespace rota::worker::locks
