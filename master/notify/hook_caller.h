// Calls the hooks that start and stop workers: a thread for each hook, so that one that hangs delays no other
// and never the loop. Calls of one hook never overlap. When one is called, and how often, is decided by the
// core.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/scaling.h"
#include "master/notify/delivery.h"
#include "master/notify/delivery_line.h"
#include "master/notify/message.h"

namespace rota::master::notify {

struct Hook {
  std::string name;
  Millis timeout{10'000};
  std::unique_ptr<DeliveryRoute> route;
};

/// What a hook gets: one JSON object, always valid UTF-8. The same `sequence` in each try.
std::string message_of(const model::ScaleChange& row, const Sender& sender);

/// Owned by Services. Thread: any.
class HookCaller {
 public:
  HookCaller(std::vector<Hook> hooks, Sender sender);

  std::vector<std::string> names() const;
  /// Returns at once. `called` is called once, with an empty error when the hook has accepted, unless stop()
  /// comes first.
  void call(const model::ScaleChange& row, std::function<void(const std::string& error)> called);
  /// Ends what is under way. Twice is fine.
  void stop();

 private:
  const Sender sender_;
  std::map<std::string, std::unique_ptr<DeliveryLine>> lines_;
};

}  // namespace rota::master::notify
