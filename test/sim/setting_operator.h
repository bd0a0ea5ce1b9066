// The operator of a simulated world's settings: changes those by which the leader decides. At the end none is set.
#pragma once

#include <functional>
#include <string>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "random.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the clients.
class SettingOperator {
 public:
  using Make = std::function<master::core::Event(Token)>;
  using Then = std::function<void(const master::core::ReplyBody&)>;
  using Ask = std::function<void(Make, Then)>;

  SettingOperator(World& world, Ask ask);

  void begin();
  /// From now on everything is as it is built in.
  void stop();
  /// Nothing is asked any more.
  bool is_quiet() const { return open_ == 0; }

 private:
  void act();
  void set(master::core::SetSetting event, bool is_last);
  void note_answer(const master::core::SetSetting& event, const master::core::SettingApplied& applied);

  World& world_;
  Random dice_;                        ///< its own, so that worlds without changes stay as they are
  const bool is_idle_;
  Ask ask_;
  bool stopped_ = false;
  int open_ = 0;                       ///< changes of the end that are not acknowledged yet
};

}  // namespace rota::sim
