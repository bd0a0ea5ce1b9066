// What is noted of workers and pools each minute, on MySQL, through a connection of its own.
#pragma once

#include "master/store/mysql/connection_pool.h"
#include "master/store/node_store.h"

namespace rota::master::store {

/// Thread: one at a time.
class MysqlNodes final : public NodeStore {
 public:
  explicit MysqlNodes(MysqlOptions options);

  Result<void> keep_minutes(const MinuteRows& rows) override;
  Result<std::map<std::string, core::WorkerWork>> work_since(WallTime minute, Epoch leader) override;
  Result<bool> erase_minutes(WallTime before) override;
  Result<std::int64_t> erase_lives(WallTime before, std::int32_t most) override;

 private:
  ConnectionPool pool_;
};

}  // namespace rota::master::store
