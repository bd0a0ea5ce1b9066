// The threads on which in-process handlers run: as many as there are slots at most, made when needed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rota::worker::run {

/// Owner: the runner. Thread: any. Handlers that never return keep their thread: stop() gives them up
/// with the process, since no thread can be killed.
class HandlerPool {
 public:
  using Task = std::function<void()>;
  explicit HandlerPool(std::size_t most_threads) : most_(most_threads) {}
  ~HandlerPool();

  void run(Task task);
  /// Waits for the tasks at work, at most so long; false when some did not end.
  bool stop(std::chrono::milliseconds at_most);

 private:
  void loop();
  bool wants_waking();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable idle_changed_;
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::size_t ended_ = 0;
  bool is_waking_ = false;           ///< an idle thread was woken, and has not looked yet
  bool stopping_ = false;
};

}  // namespace rota::worker::run
