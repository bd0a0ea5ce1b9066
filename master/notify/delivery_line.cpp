#include "master/notify/delivery_line.h"

#include <utility>

namespace rota::master::notify {
namespace {

/// The core has one of a receiver, or of a pool, on its way; beside it stand those of a Term before, and what
/// the master tells by itself.
constexpr std::size_t kQueueMost = 100;
constexpr Millis kPauseBetweenTries{5000};

}  // namespace

DeliveryLine::DeliveryLine(std::unique_ptr<DeliveryRoute> route, Millis timeout)
    : route_(std::move(route)), timeout_(timeout), thread_([this](std::stop_token stop) { work(stop); }) {}

DeliveryLine::~DeliveryLine() { stop(); }

void DeliveryLine::put(Job job) {
  {
    std::scoped_lock lock(mutex_);
    if (jobs_.size() < kQueueMost) {
      jobs_.push_back(std::move(job));
      ready_.notify_one();
      return;
    }
  }
  if (job.ended) job.ended("too many wait for it");
}

Result<std::string> DeliveryLine::deliver(const std::string& json, std::stop_token stop) {
  return route_->deliver(json, timeout_, stop);
}

void DeliveryLine::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DeliveryLine::work(std::stop_token stop) {
  while (!stop.stop_requested()) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      if (!ready_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    const std::string error = attempt(job, stop);
    if (!stop.stop_requested() && job.ended) job.ended(error);
  }
}

std::string DeliveryLine::attempt(const Job& job, std::stop_token stop) {
  std::string error;
  for (int tried = 0; tried < job.tries; ++tried) {
    if (tried > 0) pause(kPauseBetweenTries, stop);
    const auto answer = deliver(job.json, stop);
    if (answer) return {};
    error = answer.error().message;
  }
  return error.empty() ? "unknown" : error;
}

void DeliveryLine::pause(Millis for_long, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ready_.wait_for(lock, stop, for_long, [] { return false; });
}

}  // namespace rota::master::notify
