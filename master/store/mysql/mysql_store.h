// The store on MySQL: one fenced transaction per batch, multi-row statements, every unit harmless when
// repeated. See store.h for what a caller must do with each outcome.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "master/store/mysql/mysql_options.h"
#include "master/store/store.h"

namespace rota::master::store {

class Connection;

/// Holds one connection, opened by the first call and again after any error.
/// Thread: one at a time (the loop's, or the one that stores for it).
class MysqlStore final : public Store {
 public:
  explicit MysqlStore(MysqlOptions options);
  ~MysqlStore() override;

  ApplyResult apply(Epoch epoch, const core::Changes& changes) override;
  /// Null for very many rows: what they need in memory at once.
  std::unique_ptr<PreparedRows> prepare(const core::Changes& changes) override;
  ApplyResult apply_prepared(Epoch epoch, const core::Changes& changes, PreparedRows& rows) override;
  void tell_written(std::function<void()> written) override { written_ = std::move(written); }
  void tell_progress(std::function<void()> progress) override;

 private:
  ApplyResult apply_once(Epoch epoch, const core::Changes& changes, PreparedRows* rows);
  ApplyResult try_once(Epoch epoch, const core::Changes& changes, PreparedRows* rows);
  Result<void> connect(Epoch epoch);
  Result<bool> has_gone_back(Epoch epoch);

  const MysqlOptions options_;
  std::unique_ptr<Connection> connection_;
  Epoch announced_;  ///< the epoch under which connection_ is named in loop_connection
  Epoch stored_for_;                ///< the epoch of the last batch that was applied ...
  std::optional<core::Watermark> stored_;  ///< ... and the highest watermark applied in it
  std::atomic<bool> by_content_{false};  ///< versions point at contents (contents.h), as the last batch saw
  std::function<void()> progress_;
  std::function<void()> written_;
};

}  // namespace rota::master::store
