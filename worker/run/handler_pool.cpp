#include "worker/run/handler_pool.h"

#include "common/base/check.h"

namespace rota::worker::run {

HandlerPool::~HandlerPool() {
  // A handler that ignores its cancellation would use what is about to be destroyed.
  CHECK_OR_DIE(stop(std::chrono::seconds{10}), "a handler does not end; the process ends with it");
}

void HandlerPool::run(Task task) {
  bool is_next = false;
  {
    std::scoped_lock lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < most_) threads_.emplace_back([this] { loop(); });
    is_next = wants_waking();
  }
  if (is_next) ready_.notify_one();
}

/// Under the lock; it is woken after that, so that it need not wait for the lock again. Waking a thread costs
/// more than many a handler, and one that is awake takes task after task. So one is woken at a time, and it
/// wakes the next when there is still something to do.
bool HandlerPool::wants_waking() {
  if (is_waking_ || idle_ == 0 || tasks_.empty()) return false;
  return is_waking_ = true;
}

void HandlerPool::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    while (!stopping_ && tasks_.empty()) {
      ready_.wait(lock);
      is_waking_ = false;
    }
    --idle_;
    if (tasks_.empty()) break;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    const bool is_next = wants_waking();
    lock.unlock();
    if (is_next) ready_.notify_one();
    task();
    task = nullptr;
    lock.lock();
  }
  ++ended_;
  idle_changed_.notify_all();
}

bool HandlerPool::stop(std::chrono::milliseconds at_most) {
  std::vector<std::thread> threads;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    ready_.notify_all();
    if (!idle_changed_.wait_for(lock, at_most, [&] { return ended_ == threads_.size(); })) {
      return false;
    }
    threads.swap(threads_);
    ended_ = 0;
  }
  for (std::thread& thread : threads) thread.join();
  return true;
}

}  // namespace rota::worker::run
