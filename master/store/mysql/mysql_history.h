// Retention of runs and gap rows on MySQL, through one connection of its own.
#pragma once

#include "master/store/mysql/connection_pool.h"
#include "master/store/history_store.h"

namespace rota::master::store {

/// Thread: one at a time.
class MysqlHistory final : public HistoryStore {
 public:
  explicit MysqlHistory(MysqlOptions options);

  Result<std::optional<Millis>> shortest_keep() override;
  Result<std::vector<PastRun>> past_runs(RunId after, std::int32_t limit) override;
  Result<std::vector<PastGap>> past_gaps(const GapKey& after, std::int32_t limit) override;
  Result<void> forget_through(const std::map<JobId, WallTime>& moments) override;
  Result<void> erase_runs(const std::vector<PastRun>& runs) override;
  Result<void> erase_gaps(const std::vector<GapKey>& gaps) override;

 private:
  ConnectionPool pool_;
};

}  // namespace rota::master::store
