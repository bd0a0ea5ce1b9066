// The receivers of a simulated world: slow, refusing, hanging, and deaf to what they are told of
// themselves.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/notification.h"
#include "random.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class SimReceivers {
 public:
  explicit SimReceivers(World& world);

  /// As all masters' settings say. None in some worlds.
  const std::vector<model::ReceiverRule>& rules() const { return rules_; }
  /// Some jobs name whom to tell.
  void draw(model::JobRules& rules);
  /// Sends it; `tried` is called once, later.
  void send(const model::Notification& row, std::function<void(const std::string& error)> tried);

 private:
  World& world_;
  Random dice_;  ///< its own, so that worlds without receivers stay as they are
  std::vector<model::ReceiverRule> rules_;
};

}  // namespace rota::sim
