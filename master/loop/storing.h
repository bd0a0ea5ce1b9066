// Stores a batch beside the loop, so that the next one can be decided meanwhile.
#pragma once

#include <condition_variable>
#include <functional>
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
/// result was received, nobody else may use the store, and the changes must stay as they are.
class Storing {
 public:
  virtual ~Storing() = default;

  /// Begins to apply this batch.
  virtual void begin(Epoch epoch, const core::Changes& changes) = 0;

  /// The result of the batch that was begun; nothing while it is still being applied. Given once.
  virtual std::optional<store::ApplyResult> receive() = 0;

  /// Waits until receive() has something, at most so long, or until stop is asked for.
  virtual void wait(Micros at_most, std::stop_token stop) = 0;
};

/// With a thread of its own. `done` is called by that thread when a result is there.
/// Its destructor waits for a batch that is being applied; each statement has a deadline of its own.
class StoringThread final : public Storing {
 public:
  StoringThread(store::Store& store, std::function<void()> done);
  StoringThread(const StoringThread&) = delete;
  StoringThread& operator=(const StoringThread&) = delete;
  ~StoringThread() override;

  void begin(Epoch epoch, const core::Changes& changes) override;
  std::optional<store::ApplyResult> receive() override;
  void wait(Micros at_most, std::stop_token stop) override;

 private:
  struct Task {
    Epoch epoch;
    const core::Changes* changes = nullptr;
  };

  void run(std::stop_token stop);

  store::Store& store_;
  const std::function<void()> done_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Task> task_;                   ///< begun, and not accepted by the thread yet
  std::optional<store::ApplyResult> result_;
  std::jthread thread_;                        ///< last: it uses all the others
};

}  // namespace rota::master::loop
