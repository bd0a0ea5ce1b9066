// Output of attempts on MySQL, one row per chunk, through a pool of connections of its own.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "master/store/mysql/connection_pool.h"
#include "master/store/logs/log_rules.h"
#include "master/store/log_store.h"

namespace rota::master::store {

/// Thread: any.
class MysqlLogStore final : public LogStore {
 public:
  explicit MysqlLogStore(MysqlOptions options, PoolOptions pool = {}, bool compress = true);

  Result<std::vector<std::int64_t>> append(const std::vector<LogChunk>& chunks) override;
  Result<LogSlice> read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                        std::int64_t limit) override;
  Result<std::vector<StoredStream>> stored_of(const std::vector<RunId>& runs) override;
  Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) override;
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) override;
  Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) override;

 private:
  using StreamKey = std::tuple<model::AttemptKey, LogStream>;

  Result<std::int64_t> stored_end(Connection& connection, const StreamKey& key);

  const bool compress_;
  ConnectionPool pool_;
  // Chunks never change, so a known contiguous end stays true as long as the chunk before it stands (a
  // database may go back, output is deleted); it saves walking a long stream again for each chunk.
  // Emptied when it grows beyond its bound.
  struct KnownEnd {
    ChunkPlace last;             ///< the chunk that ends there
    std::int64_t end = 0;
  };
  Result<std::optional<KnownEnd>> walk(Connection& connection, const StreamKey& key, KnownEnd known);

  std::mutex mutex_;
  std::map<StreamKey, KnownEnd> known_ends_;
};

}  // namespace rota::master::store
