// Passes calls on to a log store, and remembers whether it stores output. When it does not, nothing is lost
// at first and no call of a user fails: without this only the growing spools of the workers would show it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "common/base/time.h"
#include "master/store/log_store.h"

namespace rota::master {

/// Owner: Services. Thread: any.
class LogStoreWatch final : public store::LogStore {
 public:
  LogStoreWatch(std::unique_ptr<store::LogStore> store, const Clock& clock)
      : store_(std::move(store)), clock_(clock) {}

  /// Why the last output was not taken; empty when it was, or when that is a minute ago: workers send again
  /// much sooner, and may have turned to another master.
  std::string trouble() const;

  Result<void> prepare() override { return store_->prepare(); }
  Result<std::vector<std::int64_t>> append(const std::vector<store::LogChunk>& chunks) override;
  Result<store::LogSlice> read(model::AttemptKey attempt, store::LogStream stream, std::int64_t offset,
                               std::int64_t limit) override {
    return store_->read(attempt, stream, offset, limit);
  }
  Result<std::vector<store::StoredStream>> stored_of(const std::vector<RunId>& runs) override {
    return store_->stored_of(runs);
  }
  Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) override {
    return store_->runs_with_logs(after, limit);
  }
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) override {
    return store_->bytes_of(runs);
  }
  Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) override {
    return store_->erase(runs, most);
  }

 private:
  const std::unique_ptr<store::LogStore> store_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::string why_;                    ///< empty: the last output was taken
  MonoTime failed_{};
};

}  // namespace rota::master
