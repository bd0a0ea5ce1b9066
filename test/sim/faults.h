// What goes wrong in a simulated world, and how it heals.
#pragma once

#include "common/base/time.h"

namespace rota::sim {

class SimMaster;
class SimWorker;
class World;

/// Thread: one. Owned by the world.
class Faults {
 public:
  explicit Faults(World& world) : world_(world) {}
  /// From now on faults happen; a leader's crash and a lost answer in any case.
  void begin();
  /// No more of them; everything comes back.
  void heal();
  void note_last_term(SimMaster& master);

 private:
  void next();
  void strike();
  void strike_worker(SimWorker& worker);
  void strike_leader();
  void crash_leader();
  SimMaster* leader();

  World& world_;
  bool healed_ = false;
};

}  // namespace rota::sim
