#include "master/loop/storing.h"

#include <utility>

namespace rota::master::loop {

StoringThread::StoringThread(store::Store& store, std::function<void()> news)
    : store_(store),
      news_(std::move(news)),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

StoringThread::~StoringThread() = default;

void StoringThread::begin(Epoch epoch, const core::Changes& changes,
                          std::unique_ptr<store::PreparedRows> rows) {
  {
    std::scoped_lock lock(mutex_);
    task_ = Task{epoch, &changes, std::move(rows)};
    has_written_ = false;
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

store::ApplyResult StoringThread::apply(const Task& task) {
  store_.tell_written([this] {
    has_written_ = true;
    news_();
  });
  store::ApplyResult result = task.rows ? store_.apply_prepared(task.epoch, *task.changes, *task.rows)
                                        : store_.apply(task.epoch, *task.changes);
  store_.tell_written({});
  return result;
}

void StoringThread::run(std::stop_token stop) {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return task_.has_value(); })) return;
      task = std::move(*task_);
      task_.reset();
    }
    store::ApplyResult result = apply(task);
    {
      std::scoped_lock lock(mutex_);
      result_ = std::move(result);
    }
    changed_.notify_all();
    news_();
  }
}

}  // namespace rota::master::loop
