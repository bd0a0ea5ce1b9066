// One way out and its thread: what is put in leaves one after another. So one that hangs delays nobody else.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/notify/delivery.h"

namespace rota::master::notify {

/// Thread: any.
class DeliveryLine {
 public:
  struct Job {
    std::string json;
    /// Called once, by the line's thread, unless stop() comes first. An empty error: it was accepted.
    std::function<void(const std::string& error)> ended;
    int tries = 1;
  };

  DeliveryLine(std::unique_ptr<DeliveryRoute> route, Millis timeout);
  ~DeliveryLine();
  DeliveryLine(const DeliveryLine&) = delete;
  DeliveryLine& operator=(const DeliveryLine&) = delete;

  /// Returns at once. Refuses what is more than a bound.
  void put(Job job);
  /// At once, by the caller's thread.
  Result<std::string> deliver(const std::string& json, std::stop_token stop);
  /// Ends what is under way. Twice is fine.
  void stop();

 private:
  void work(std::stop_token stop);
  std::string attempt(const Job& job, std::stop_token stop);
  void pause(Millis for_long, std::stop_token stop);

  const std::unique_ptr<DeliveryRoute> route_;
  const Millis timeout_;
  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<Job> jobs_;
  std::jthread thread_;  ///< last: it uses the rest
};

}  // namespace rota::master::notify
