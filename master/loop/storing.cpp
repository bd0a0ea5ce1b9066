#include "master/loop/storing.h"

#include <utility>

namespace rota::master::loop {

StoringThread::StoringThread(store::Store& store, std::function<void()> done)
    : store_(store),
      done_(std::move(done)),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

StoringThread::~StoringThread() = default;

void StoringThread::begin(Epoch epoch, const core::Changes& changes) {
  {
    std::scoped_lock lock(mutex_);
    task_ = Task{epoch, &changes};
  }
  changed_.notify_all();
}

std::optional<store::ApplyResult> StoringThread::receive() {
  std::scoped_lock lock(mutex_);
  return std::exchange(result_, std::nullopt);
}

void StoringThread::wait(Micros at_most, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, at_most, [this] { return result_.has_value(); });
}

void StoringThread::run(std::stop_token stop) {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return task_.has_value(); })) return;
      task = *std::exchange(task_, std::nullopt);
    }
    store::ApplyResult result = store_.apply(task.epoch, *task.changes);
    {
      std::scoped_lock lock(mutex_);
      result_ = std::move(result);
    }
    changed_.notify_all();
    done_();
  }
}

}  // namespace rota::master::loop
