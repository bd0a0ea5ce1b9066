// The hook of a simulated world: it refuses, hangs, and loses its answers; it stops workers that it may stop, which
// come back after a while. And the operator who gives the pool a minimum, a maximum and the hook. At the end the
// pool has none of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/scaling.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "random.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class SimHooks {
 public:
  explicit SimHooks(World& world);

  /// As all masters' settings say. None in some worlds.
  std::vector<std::string> names() const { return is_idle_ ? std::vector<std::string>{} : std::vector<std::string>{"h"}; }
  /// Calls it; `called` is called once, later.
  void call(const model::ScaleChange& row, std::function<void(const std::string& error)> called);

 private:
  void obey(const model::ScaleChange& row);
  void stop(const model::WorkerKey& worker);

  World& world_;
  Random dice_;                        ///< its own, so that worlds without hooks stay as they are
  bool is_idle_ = false;
  std::int64_t newest_ = 0;            ///< the highest sequence number that it has obeyed
};

/// Thread: one. Owned by the clients.
class ScaleOperator {
 public:
  using Make = std::function<master::core::Event(Token)>;
  using Then = std::function<void(const master::core::ReplyBody&)>;
  using Ask = std::function<void(Make, Then)>;

  ScaleOperator(World& world, Ask ask);

  void begin();
  /// Takes minimum, maximum and hook away, and then resumes all workers.
  void stop();
  bool is_quiet() const { return open_ == 0; }

 private:
  void act();
  void set(master::core::SetQuota event, bool is_last);
  void resume(const std::string& worker);

  World& world_;
  Random dice_;
  bool is_idle_ = true;
  Ask ask_;
  bool stopped_ = false;
  int open_ = 0;
};

}  // namespace rota::sim
