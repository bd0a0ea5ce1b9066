// Sends notifications to receivers: a thread for each, so that one that hangs delays nobody else and never
// the loop. What is sent, when, and how often is decided by the core; this only does it and says how it
// went.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/notification.h"
#include "master/notify/delivery.h"
#include "master/notify/message.h"

namespace rota::master::notify {

struct Receiver {
  model::ReceiverRule rule;
  Millis timeout{10'000};
  std::unique_ptr<DeliveryRoute> route;
};

/// How a try ended; the error is empty when the receiver has accepted it.
using Tried = std::function<void(std::int64_t id, const std::string& error)>;

/// Owned by Services. Thread: any.
class Notifier {
 public:
  Notifier(std::vector<Receiver> receivers, Sender sender);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  std::vector<model::ReceiverRule> rules() const;
  /// Returns at once. `tried` is called once, by a thread of the receiver's, unless stop() comes first.
  void send(const model::Notification& row, Tried tried);
  /// What a master tells by itself to all who want to hear it; nothing is stored. Tried a few times, and
  /// given up.
  void tell(model::Happening what, const std::string& id, const std::string& text, WallTime now);
  /// Sends a real one, waits, and gives what was answered. NotFound: there is no such receiver.
  Result<std::string> test(const std::string& receiver, const std::string& id, WallTime now);
  /// Ends what is under way. Twice is fine.
  void stop();

 private:
  class Line;
  Line* find(const std::string& name) const;

  const Sender sender_;
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace rota::master::notify
