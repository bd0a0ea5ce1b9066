// Retention of output on MySQL, through connections of its own.
#pragma once

#include "master/store/mysql/connection_pool.h"
#include "master/store/retention_store.h"

namespace rota::master::store {

/// Thread: any.
class MysqlRetention final : public RetentionStore {
 public:
  explicit MysqlRetention(MysqlOptions options);

  Result<std::vector<LoggedRun>> logged_runs(const std::vector<RunId>& runs) override;
  Result<void> note_pruned(const std::vector<RunId>& runs, WallTime at) override;

 private:
  ConnectionPool pool_;
};

}  // namespace rota::master::store
