// The events of a client's handler, so that tests can wait for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/queue.h"
#include "common/zk/client.h"
#include "test/support/patience.h"

namespace rota::zk {

/// Thread: any. The handler shares the queue, because it may be called after the log is gone.
class EventLog {
 public:
  EventHandler handler() {
    return [queue = queue_](const Event& event) { queue->push(Event(event)); };
  }
  /// The next event that fits, dropping others; empty when none comes.
  std::optional<Event> next(const std::function<bool(const Event&)>& fits) {
    const MonoTime end = BootClock::now() + testing::kPatience;
    while (BootClock::now() < end) {
      auto event = queue_->pop(end - BootClock::now());
      if (event && fits(*event)) return event;
    }
    return std::nullopt;
  }
  bool hears(Event::What what) {
    return next([&](const Event& event) { return event.what == what; }).has_value();
  }
  bool hears_watch(const std::string& path, Event::Change change) {
    return next([&](const Event& event) {
             return event.what == Event::What::Watch && event.path == path &&
                    event.change == change;
           }).has_value();
  }
  std::size_t waiting() const { return queue_->size(); }

 private:
  std::shared_ptr<BoundedQueue<Event>> queue_ = std::make_shared<BoundedQueue<Event>>(1000);
};

}  // namespace rota::zk
