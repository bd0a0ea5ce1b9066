#include "worker/run/handler_pool.h"

#include "common/base/check.h"

namespace rota::worker::run {

HandlerPool::~HandlerPool() {
  // A handler that ignores its cancellation would use what is about to be destroyed.
  CHECK_OR_DIE(stop(std::chrono::seconds{10}), "a handler does not end; the process ends with it");
}

void HandlerPool::run(Task task) {
  std::scoped_lock lock(mutex_);
  if (stopping_) return;
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_ && threads_.size() < most_) threads_.emplace_back([this] { loop(); });
  wake_next();
}

/// Under the lock. Waking a thread costs more than many a handler, and one that is awake takes task after
/// task. So one is woken at a time, and it wakes the next when there is still something to do.
void HandlerPool::wake_next() {
  if (is_waking_ || idle_ == 0 || tasks_.empty()) return;
  is_waking_ = true;
  ready_.notify_one();
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
    wake_next();
    lock.unlock();
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
