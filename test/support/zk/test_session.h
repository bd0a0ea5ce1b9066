// A Session for tests, over a fake server or a real one, and a way to wait for its effects.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "common/zk/session.h"
#include "test/support/patience.h"
#include "test/support/zk/fake_server.h"

namespace rota::zk {

/// A value that callbacks change and a test waits for. Thread: any.
template <typename T>
class Watched {
 public:
  void change(const std::function<void(T&)>& how) {
    std::scoped_lock lock(mutex_);
    how(value_);
    changed_.notify_all();  // under the lock: a waiter may destroy this object as soon as it wakes
  }
  /// False when it never becomes true within kPatience.
  bool becomes(const std::function<bool(const T&)>& fits) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, testing::kPatience, [&] { return fits(value_); });
  }
  T get() const {
    std::scoped_lock lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  T value_{};
};

inline SessionOptions quick_session(const std::string& addresses = "fake") {
  SessionOptions options;
  options.client.addresses = addresses;
  options.backoff_first = Millis{1};
  options.backoff_most = Millis{20};
  return options;
}

/// Waits until the session's thread has finished its present tasks.
inline void settle(Session& session) { session.tasks().run(testing::kPatience, [] {}); }

/// Polls a condition on the fake server, which has no latch.
inline bool eventually(Session& session, const std::function<bool()>& condition) {
  for (const MonoTime end = BootClock::now() + testing::kPatience; BootClock::now() < end;) {
    if (condition()) return true;
    settle(session);
    std::this_thread::yield();
  }
  return false;
}

}  // namespace rota::zk
