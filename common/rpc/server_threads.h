// The threads on which a server's handlers run, as Thrift's server wants to see them. Two things are not as
// in Thrift's own pool, and both are felt in every call:
//   - Whoever rested last works next. So few threads do nearly all the work of a light load; their caches are
//     warm, and the others hold no memory that they once needed for a large request.
//   - A thread is woken after the lock is free, for one certain task. It finds no lock to wait for again.
#pragma once

#include <thrift/concurrency/ThreadManager.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rota::rpc {

/// Owned by a Server. Tasks that wait are taken in order. Thread: any; stop() not by a task.
class ServerThreads final : public apache::thrift::concurrency::ThreadManager {
  using Runnable = apache::thrift::concurrency::Runnable;
  using ThreadFactory = apache::thrift::concurrency::ThreadFactory;

 public:
  explicit ServerThreads(std::size_t threads) : most_(threads) {}
  ~ServerThreads() override { stop(); }

  void start() override;
  /// Waits for the tasks at work and drops those that wait. Twice is fine.
  void stop() override;
  /// Never blocks. Dropped after stop().
  void add(std::shared_ptr<Runnable> task, std::int64_t timeout = 0, std::int64_t expiration = 0) override;
  std::shared_ptr<Runnable> removeNextPending() override;

  STATE state() const override;
  std::size_t idleWorkerCount() const override;
  std::size_t workerCount() const override { return most_; }
  std::size_t pendingTaskCount() const override;
  std::size_t totalTaskCount() const override;

  // Nobody bounds the queue (the server bounds its connections), and no task expires.
  std::size_t pendingTaskCountMax() const override { return 0; }
  std::size_t expiredTaskCount() const override { return 0; }
  void remove(std::shared_ptr<Runnable>) override {}
  void removeExpiredTasks() override {}
  void setExpireCallback(ExpireCallback) override {}
  // The number of threads is fixed, and they are made here.
  std::shared_ptr<ThreadFactory> threadFactory() const override { return nullptr; }
  void threadFactory(std::shared_ptr<ThreadFactory>) override {}
  void addWorker(std::size_t) override {}
  void removeWorker(std::size_t) override {}

 private:
  /// Where one thread waits.
  struct Seat {
    std::mutex mutex;
    std::condition_variable called;
    std::shared_ptr<Runnable> task;
    bool is_over = false;
  };

  void work(Seat& seat);
  /// Its next task; null: it ends.
  std::shared_ptr<Runnable> next_of(Seat& seat);
  static void call(Seat& seat, std::shared_ptr<Runnable> task);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Seat*> resting_;             ///< who rested last is the last; empty while tasks wait
  std::deque<std::shared_ptr<Runnable>> waiting_;
  std::vector<std::jthread> threads_;
  bool is_stopped_ = false;
};

}  // namespace rota::rpc
