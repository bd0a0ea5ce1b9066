// Where the desk puts what is to be reported. worker/report implements it with the outbox.
#pragma once

#include <functional>
#include <vector>

#include "common/model/worker.h"

namespace rota::worker::desk {

/// Thread: any; no call waits for disk or network.
class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  /// An attempt runs; told to the leader when it has lasted a while, and not kept.
  virtual void started(model::AttemptReport report) = 0;
  /// An attempt that runs said something of itself: a Started report with a note. Kept, merged with what
  /// was not told yet, told at most once a second and again until the leader has stored it.
  virtual void noted(model::AttemptReport report) = 0;
  /// An attempt ended. It is written; then `stored` hears of it, and only then does the outcome count.
  virtual void finished(model::AttemptReport report) = 0;
  /// So much waits for the leader that nothing new should be accepted.
  virtual bool is_full() const = 0;
};

/// Hears that reports are written and synced: they outlive this process, and its host. Called on the outbox's
/// thread.
using StoredObserver = std::function<void(const std::vector<model::AttemptReport>&)>;

}  // namespace rota::worker::desk
