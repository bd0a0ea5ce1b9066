// Named locks for the whole cluster: a name has at most one holder, on whichever worker or host.
// common/zk/named_locks.h implements them; handlers (Context::lock) and `rota lock` acquire them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota {

/// An acquired lock; its destructor releases it. Owner: who acquired it. Thread: any.
///
/// It lives as long as the holder's ZooKeeper session. When the session ends (a dead worker, a long stall),
/// others may get the lock, and the holder may notice that too late. So a resource that two must never use
/// at once should be given the token, and refuse a token lower than one it has seen.
class HeldLock {
 public:
  virtual ~HeldLock() = default;
  /// Fencing token: higher with each acquisition of this name.
  virtual std::int64_t token() const = 0;
  /// False once it is lost, or may be lost because ZooKeeper is out of reach: stop, or ask again.
  virtual bool is_held() const = 0;
  /// Others get the lock when ZooKeeper has heard nothing from the holder for this time.
  virtual Millis session_timeout() const = 0;
};

/// Acquires locks. Thread: any.
class LockService {
 public:
  /// Waits at most this long; true when the run was cancelled meanwhile.
  using Waiting = std::function<bool(Millis)>;

  virtual ~LockService() = default;
  /// Tries until it has the lock. `at_most` limits the wait; connecting to ZooKeeper may take 5 s more.
  /// `owner` is shown to others that wait. TimedOut: another holder had it all the time (the message says
  /// who), or the run was cancelled; Unavailable: ZooKeeper is out of reach; InvalidArgument: a name that
  /// is not 1 to 64 letters, digits, '-', '_' or '.'.
  virtual Result<std::unique_ptr<HeldLock>> take(const std::string& name, const std::string& owner,
                                                 Millis at_most, const Waiting& wait) = 0;
};

/// Where the locks of a cluster are kept.
struct LockAddress {
  std::string servers;               ///< ZooKeeper's servers; empty: there are no locks
  std::string cluster;
  Millis session_timeout{4000};
};

}  // namespace rota
