// The queue behind the dispatcher: one lane for each worker's life, in which messages keep their
// order and at most one thread works at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "common/base/ids.h"
#include "common/model/worker.h"
#include "master/core/effect.h"

namespace rota::master::dispatch {

/// What one thread does next: a hello, a cancel, a drain, or all dispatches that are next to each other.
struct LaneWork {
  model::WorkerKey worker;
  Epoch epoch;
  std::vector<core::Send> messages;
};

/// Thread: any.
class Lanes {
 public:
  /// `most_hellos`: at the same time, so that workers that do not answer leave threads for those that do.
  explicit Lanes(std::size_t most_attempts, std::size_t most_hellos = SIZE_MAX)
      : most_attempts_(most_attempts), most_hellos_(most_hellos) {}

  /// False when too many attempts already wait; the message is then unchanged.
  bool push(Epoch epoch, core::Send&& message);
  /// Waits for work. The lane is the caller's until done().
  std::optional<LaneWork> take(std::stop_token stop);
  /// Gives the lane back.
  void done(const model::WorkerKey& worker);
  /// Takes the dispatches that wait for a worker which does not answer.
  std::vector<core::SendDispatch> pop_dispatches(const model::WorkerKey& worker);
  /// Drops all that waits; gives how many messages.
  std::size_t clear();
  /// Wakes the waiting threads.
  void wake_all() { ready_changed_.notify_all(); }

 private:
  struct Entry {
    Epoch epoch;
    core::Send message;
  };
  struct Lane {
    std::deque<Entry> queue;
    bool taken = false;
    bool greeting = false;  ///< taken for a hello
  };

  bool is_hello_next(const model::WorkerKey& worker) const;
  std::deque<model::WorkerKey>::iterator first_allowed();

  const std::size_t most_attempts_;
  const std::size_t most_hellos_;
  std::mutex mutex_;
  std::condition_variable_any ready_changed_;
  std::map<model::WorkerKey, Lane> lanes_;
  std::deque<model::WorkerKey> ready_;  ///< lanes with work that nobody has taken
  std::size_t attempts_ = 0;
  std::size_t hellos_out_ = 0;
};

}  // namespace rota::master::dispatch
