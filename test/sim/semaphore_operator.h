// The operator of a simulated world's semaphores: gives them other counts, closes and deletes them. At the end each
// has enough tokens for all.
#pragma once

#include <functional>
#include <string>

#include "common/model/job.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "random.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the clients.
class SemaphoreOperator {
 public:
  using Make = std::function<master::core::Event(Token)>;
  using Then = std::function<void(const master::core::ReplyBody&)>;
  using Ask = std::function<void(Make, Then)>;

  SemaphoreOperator(World& world, Ask ask);

  /// Some jobs of some worlds use them.
  void draw(model::JobRules& rules);
  void begin();
  /// From now on no run waits for tokens forever.
  void stop();
  /// Nothing is asked any more.
  bool is_quiet() const { return open_ == 0; }

 private:
  void act();
  enum class Set { Once, UntilDone, AtTheEnd };
  void set(const std::string& name, std::int32_t count, Set how);
  void remove(const std::string& name);

  World& world_;
  Random dice_;                        ///< its own, so that worlds without semaphores stay as they are
  const bool is_idle_;
  Ask ask_;
  bool stopped_ = false;
  int open_ = 0;                       ///< counts of the end that are not acknowledged yet
};

}  // namespace rota::sim
