// Stores a batch beside the loop, so that the next one can be decided meanwhile.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/effect.h"
#include "master/store/store.h"

namespace rota::master::loop {

/// One batch at a time is stored away from the loop's thread. Thread: the loop's. After begin() and until its
/// result was received, nobody else may use the store, and the changes must stay as they are. While the
/// database makes the rows of one batch durable, the next one can be prepared.
class Storing {
 public:
  virtual ~Storing() = default;

  /// Begins to apply this batch; `rows`: what prepare gave for it, or null.
  virtual void begin(Epoch epoch, const core::Changes& changes,
                     std::unique_ptr<store::PreparedRows> rows) = 0;

  /// Whether the database has all rows of the batch that was begun, and only its COMMIT is missing.
  virtual bool has_written() = 0;

  /// Prepares a batch that is not begun yet (Store::prepare). Its changes must stay as they are from now on.
  virtual std::unique_ptr<store::PreparedRows> prepare(const core::Changes& changes) = 0;

  /// The result of the batch that was begun; nothing while it is still being applied. Given once.
  virtual std::optional<store::ApplyResult> receive() = 0;

  /// Waits until receive() has something, at most so long, or until stop is asked for.
  virtual void wait(Micros at_most, std::stop_token stop) = 0;
};

/// With a thread of its own. `news` is called by that thread when rows are written, and when a result is
/// there. Its destructor waits for a batch that is being applied; each statement has a deadline of its own.
class StoringThread final : public Storing {
 public:
  StoringThread(store::Store& store, std::function<void()> news);
  StoringThread(const StoringThread&) = delete;
  StoringThread& operator=(const StoringThread&) = delete;
  ~StoringThread() override;

  void begin(Epoch epoch, const core::Changes& changes, std::unique_ptr<store::PreparedRows> rows) override;
  bool has_written() override { return has_written_; }
  std::unique_ptr<store::PreparedRows> prepare(const core::Changes& changes) override {
    return store_.prepare(changes);
  }
  std::optional<store::ApplyResult> receive() override;
  void wait(Micros at_most, std::stop_token stop) override;

 private:
  struct Task {
    Epoch epoch;
    const core::Changes* changes = nullptr;
    std::unique_ptr<store::PreparedRows> rows;
  };

  store::ApplyResult apply(const Task& task);
  void run(std::stop_token stop);

  store::Store& store_;
  const std::function<void()> news_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Task> task_;                   ///< begun, and not accepted by the thread yet
  std::optional<store::ApplyResult> result_;
  std::atomic<bool> has_written_ = false;      ///< all rows of the batch that was begun
  std::jthread thread_;                        ///< last: it uses all the others
};

}  // namespace rota::master::loop
