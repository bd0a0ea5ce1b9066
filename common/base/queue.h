// A bounded queue between threads. When it is full, push fails at once: the producer says "overloaded".
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace rota {

/// Many producers, any number of consumers. Thread: any. Closing wakes every waiter; items that are
/// still inside can be drained after closing.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// False when full or closed; the item is then unchanged.
  bool push(T&& item) {
    {
      std::scoped_lock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
    return true;
  }

  /// Waits for one item until the timeout, a stop request or closing.
  std::optional<T> pop(Micros timeout, std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, stop, timeout, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  /// Takes up to `most` items without waiting, in order.
  std::vector<T> drain(std::size_t most) {
    std::scoped_lock lock(mutex_);
    std::vector<T> out;
    while (!items_.empty() && out.size() < most) {
      out.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    return out;
  }

  void close() {
    {
      std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

  std::size_t size() const {
    std::scoped_lock lock(mutex_);
    return items_.size();
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace rota
