// A bounded set of connections for reading, shared by the API's threads. When the database is down a
// caller learns the reason at once instead of waiting for a connect timeout of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/mysql/mysql_options.h"

namespace rota::master::store {

class Connection;

struct PoolOptions {
  std::size_t connections = 8;  ///< at most so many at once
  Millis wait{1000};            ///< for a free connection, then TimedOut
  Millis remember_failure{250}; ///< so long after a failed connect everybody gets its error at once
  /// Why the database does not answer, as its watch knows: then no caller waits for a timeout of its own.
  /// Empty: go on. Called by each caller's thread.
  std::function<std::string()> silence = [] { return std::string(); };
};

/// Thread: any. Outlives nothing that it gave out: work runs inside `with`.
class ConnectionPool {
 public:
  ConnectionPool(MysqlOptions options, PoolOptions pool);
  ~ConnectionPool();

  /// Runs `work` with a connection of its own; a transaction that it leaves open is undone. Only for work
  /// that reads, or is harmless when repeated: it runs once more on a fresh connection when a kept one
  /// turns out dead, and a few times when another Galera node was faster with the same rows.
  /// Errors: work's own, TimedOut (no connection became free), Unavailable.
  Result<void> with(const std::function<Result<void>(Connection&)>& work);

 private:
  struct Lease {
    std::unique_ptr<Connection> connection;
    bool fresh = false;
  };
  Result<Lease> take(bool only_fresh);
  Result<Lease> open_new();
  void give_back(Lease lease);
  void drop_idle();

  const MysqlOptions options_;
  const PoolOptions pool_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t out_ = 0;
  Error last_failure_;
  MonoTime failure_until_{};
};

}  // namespace rota::master::store
