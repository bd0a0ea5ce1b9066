// The operator of a simulated world's limits: gives its pool and its namespace others. At the end nothing is limited.
#pragma once

#include <functional>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "random.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the clients.
class QuotaOperator {
 public:
  using Make = std::function<master::core::Event(Token)>;
  using Then = std::function<void(const master::core::ReplyBody&)>;
  using Ask = std::function<void(Make, Then)>;

  QuotaOperator(World& world, Ask ask);

  void begin();
  /// From now on no run waits forever for a limit.
  void stop();
  /// Nothing is asked any more.
  bool is_quiet() const { return open_ == 0; }

 private:
  void act();
  void set(master::core::SetQuota event, bool is_last);

  World& world_;
  Random dice_;                        ///< its own, so that worlds without limits stay as they are
  Random times_;                       ///< its own, so that limits stay as they were
  const bool is_idle_;
  Ask ask_;
  bool stopped_ = false;
  int open_ = 0;                       ///< changes of the end that are not acknowledged yet
};

}  // namespace rota::sim
