#include "common/zk/task_thread.h"

#include <memory>

#include "common/base/check.h"

namespace rota::zk {

TaskThread::TaskThread() {
  std::scoped_lock lock(mutex_);  // so that the loop begins after thread_ is set
  thread_ = std::thread([this] { loop(); });
}

TaskThread::~TaskThread() { stop(); }

void TaskThread::post_after(Owner owner, Millis delay, Task task) {
  {
    std::scoped_lock lock(mutex_);
    if (stopping_) return;
    items_.emplace(BootClock::now() + delay, Item{owner, std::move(task)});
  }
  changed_.notify_all();
}

void TaskThread::drop(Owner owner) {
  std::unique_lock lock(mutex_);
  std::erase_if(items_, [&](const auto& item) { return item.second.owner == owner; });
  if (is_here()) return;
  changed_.wait(lock, [&] { return running_ != owner; });
}

bool TaskThread::run(Millis at_most, const Task& task) {
  if (is_here()) {
    task();
    return true;
  }
  enum class Phase { Waiting, Running, Done, Abandoned };
  auto phase = std::make_shared<Phase>(Phase::Waiting);  // shared: the item may outlast this call
  post(phase.get(), [this, phase, task] {
    {
      std::scoped_lock lock(mutex_);
      if (*phase == Phase::Abandoned) return;
      *phase = Phase::Running;
    }
    task();
    {
      std::scoped_lock lock(mutex_);
      *phase = Phase::Done;
    }
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const auto settled = [&] {
    return *phase == Phase::Done || (ended_ && *phase != Phase::Running);
  };
  changed_.wait_for(lock, at_most, settled);
  if (*phase == Phase::Running) changed_.wait(lock, [&] { return *phase == Phase::Done; });
  if (*phase == Phase::Waiting) *phase = Phase::Abandoned;
  return *phase == Phase::Done;
}

void TaskThread::stop() {
  CHECK_OR_DIE(!is_here(), "a task thread cannot stop itself");
  {
    std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TaskThread::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (items_.empty()) {
      changed_.wait(lock, [&] { return stopping_ || !items_.empty(); });
      continue;
    }
    const auto first = items_.begin();
    const auto wait = first->first - BootClock::now();
    if (wait > Micros{0}) {
      changed_.wait_for(lock, wait);
      continue;
    }
    Item item = std::move(first->second);
    items_.erase(first);
    running_ = item.owner;
    lock.unlock();
    item.task();
    item.task = nullptr;  // its captures are freed without the lock
    lock.lock();
    running_ = nullptr;
    changed_.notify_all();
  }
  items_.clear();
  ended_ = true;
  changed_.notify_all();
}

}  // namespace rota::zk
