// Named locks as ephemeral nodes in ZooKeeper: /rota/CLUSTER/locks/NAME. The process that creates the node
// has the lock until it removes the node or its session ends; the node's creation id is the fencing token.
// A waiting process watches the node and tries again when the node is gone, and also from time to time:
// a lost watch only causes a delay. All waiting processes try at once. Few compete for a lock, and so there
// is no queue of nodes that must be repaired when one of them dies.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/named_lock.h"
#include "common/zk/paths.h"
#include "common/zk/session.h"

namespace rota::zk {

/// One session for all locks of this process, started with the first lock. Owner: the worker, a handler's
/// own process, or `rota lock`; its locks must end before it. Thread: any.
class NamedLocks final : public LockService, private SessionObserver {
 public:
  /// `look_again`: a waiting caller tries this often, even without an event.
  NamedLocks(ClientFactory factory, LockAddress address, Millis look_again = Millis{1000});
  ~NamedLocks() override;
  NamedLocks(const NamedLocks&) = delete;
  NamedLocks& operator=(const NamedLocks&) = delete;

  Result<std::unique_ptr<HeldLock>> take(const std::string& name, const std::string& owner,
                                         Millis at_most, const Waiting& wait) override;

  /// A node that this process created, and the session in which it did: by this handle, or a later one.
  struct Taken {
    std::shared_ptr<Client> client;
    SessionId session = 0;
    std::string path;
    std::string data;                  ///< with a tag that nobody else writes
  };
  /// Called by the locks themselves.
  void give_back(const Taken& taken);
  bool is_current(const Taken& taken) const;

 private:
  struct Try;
  void session_began(Client&) override {}
  void session_resumed(Client&) override { give_back_pending(); }
  void session_reattached(Client&) override;
  void session_ended() override;
  void watch_fired(Client&, const Event& event) override;

  Result<std::unique_ptr<HeldLock>> acquire_within(Try& attempt, Millis at_most, const Waiting& wait);
  Result<std::unique_ptr<HeldLock>> try_once(Try& attempt);
  bool is_told_to_stop(Try& attempt, Millis at_most, const Waiting& wait);
  bool is_given_back(const Taken& taken);
  bool is_over(const Taken& taken) const;
  std::shared_ptr<Client> client_of(const Taken& taken) const;
  void give_back_pending();

  const Paths paths_;
  const Millis look_again_;
  Session session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Try*> trying_;    ///< each as long as its call of take lasts
  std::vector<Taken> pending_;  ///< not removed yet: removed once ZooKeeper is back, or with their session
};

/// Over the real ZooKeeper; null when the address names none.
std::unique_ptr<LockService> make_locks(const LockAddress& address);

}  // namespace rota::zk
