// One thread that runs small tasks in order, some of them after a delay. Everything that uses a session runs
// on the session's task thread, so those parts need no locks.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "common/base/time.h"

namespace rota::zk {

/// Thread: post, post_after, drop and stop from any. Each task has an owner, so that an owner can
/// leave and none of its tasks runs afterwards.
class TaskThread {
 public:
  using Owner = const void*;
  using Task = std::function<void()>;

  TaskThread();
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void post(Owner owner, Task task) { post_after(owner, Millis{0}, std::move(task)); }
  /// Tasks of equal delay keep their order. After stop, the task is dropped.
  void post_after(Owner owner, Millis delay, Task task);
  /// When it returns, no task of this owner runs or will run (called on the thread itself: except for
  /// the present one).
  void drop(Owner owner);
  /// Runs the task on the thread and waits for its end; directly when called on the thread. False after
  /// stop, or when the task did not begin in time (then it never will). Once begun, it waits for the end.
  bool run(Millis at_most, const Task& task);
  /// Ends the thread after the present task; waiting tasks are dropped. A second call is fine.
  void stop();
  /// Whether the caller runs on this thread.
  bool is_here() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  struct Item {
    Owner owner;
    Task task;
  };
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<MonoTime, Item> items_;
  Owner running_ = nullptr;
  bool stopping_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace rota::zk
