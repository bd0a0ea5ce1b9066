// Named locks that hold in the whole cluster: at most one holds a name, whichever worker or host it is on.
// Kept by common/zk/named_locks.h; taken by handlers (Context::lock) and by `rota lock`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota {

/// A lock that was taken; its end gives it back. Owner: who took it. Thread: any.
///
/// It lives with the holder's session to ZooKeeper: should that end (a dead worker, a long stall), the
/// lock is free for others, and the holder may learn of it too late. What must never be done by two is
/// therefore told the token, and refuses one that is lower than one it has seen.
class HeldLock {
 public:
  virtual ~HeldLock() = default;
  /// Fencing token: higher with each taking of this name.
  virtual std::int64_t token() const = 0;
  /// False once it was lost, or may have been since ZooKeeper is out of reach: stop, or ask again.
  virtual bool is_held() const = 0;
  /// Others get the lock when ZooKeeper has heard nothing of the holder for so long.
  virtual Millis session_timeout() const = 0;
};

/// Who takes locks for others. Thread: any.
class LockService {
 public:
  /// Waits so long, or less; true when the run was cancelled meanwhile.
  using Waiting = std::function<bool(Millis)>;

  virtual ~LockService() = default;
  /// Tries until it has the lock; `at_most` is for waiting, connecting to ZooKeeper may take 5 s besides.
  /// `owner` is shown to those who wait. TimedOut: another had it all the while (the message says who),
  /// or the run was cancelled; Unavailable: ZooKeeper is out of reach; InvalidArgument: a name that is
  /// not 1 to 64 letters, digits, '-', '_' or '.'.
  virtual Result<std::unique_ptr<HeldLock>> take(const std::string& name, const std::string& owner,
                                                 Millis at_most, const Waiting& wait) = 0;
};

/// Where the locks of a cluster are kept.
struct LockAddress {
  std::string servers;               ///< ZooKeeper's; empty: there are no locks
  std::string cluster;
  Millis session_timeout{4000};
};

}  // namespace rota
