#include "common/rpc/server_threads.h"

#include <exception>
#include <utility>

#include "common/base/log.h"

namespace rota::rpc {

void ServerThreads::start() {
  std::scoped_lock lock(mutex_);
  if (is_stopped_ || !threads_.empty()) return;
  for (std::size_t i = 0; i < most_; ++i) {
    Seat& seat = *seats_.emplace_back(std::make_unique<Seat>());
    threads_.emplace_back([this, &seat] { work(seat); });
  }
}

void ServerThreads::stop() {
  std::vector<Seat*> resting;
  std::vector<std::jthread> threads;
  std::deque<std::shared_ptr<Runnable>> dropped;
  {
    std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    resting.swap(resting_);
    threads.swap(threads_);
    dropped.swap(waiting_);
  }
  for (Seat* seat : resting) call(*seat, nullptr);
  threads.clear();  // joins
}

void ServerThreads::add(std::shared_ptr<Runnable> task, std::int64_t, std::int64_t) {
  Seat* seat = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (is_stopped_) return;
    if (resting_.empty()) return waiting_.push_back(std::move(task));
    seat = resting_.back();
    resting_.pop_back();
  }
  call(*seat, std::move(task));
}

void ServerThreads::call(Seat& seat, std::shared_ptr<Runnable> task) {
  {
    std::scoped_lock lock(seat.mutex);
    seat.is_over = task == nullptr;
    seat.task = std::move(task);
  }
  seat.called.notify_one();
}

std::shared_ptr<apache::thrift::concurrency::Runnable> ServerThreads::next_of(Seat& seat) {
  {
    std::scoped_lock lock(mutex_);
    if (is_stopped_) return nullptr;
    if (!waiting_.empty()) {
      auto task = std::move(waiting_.front());
      waiting_.pop_front();
      return task;
    }
    resting_.push_back(&seat);
  }
  std::unique_lock lock(seat.mutex);
  seat.called.wait(lock, [&] { return seat.task != nullptr || seat.is_over; });
  return std::exchange(seat.task, nullptr);
}

void ServerThreads::work(Seat& seat) {
  while (auto task = next_of(seat)) {
    try {
      task->run();
    } catch (const std::exception& thrown) {
      log_error("rpc", "a handler's task ended by an exception", {{"why", thrown.what()}});
    }
  }
}

std::shared_ptr<apache::thrift::concurrency::Runnable> ServerThreads::removeNextPending() {
  std::scoped_lock lock(mutex_);
  if (waiting_.empty()) return nullptr;
  auto task = std::move(waiting_.front());
  waiting_.pop_front();
  return task;
}

apache::thrift::concurrency::ThreadManager::STATE ServerThreads::state() const {
  std::scoped_lock lock(mutex_);
  if (is_stopped_) return STOPPED;
  return threads_.empty() ? UNINITIALIZED : STARTED;
}

std::size_t ServerThreads::idleWorkerCount() const {
  std::scoped_lock lock(mutex_);
  return resting_.size();
}

std::size_t ServerThreads::pendingTaskCount() const {
  std::scoped_lock lock(mutex_);
  return waiting_.size();
}

std::size_t ServerThreads::totalTaskCount() const {
  std::scoped_lock lock(mutex_);
  return waiting_.size() + threads_.size() - resting_.size();
}

}  // namespace rota::rpc
