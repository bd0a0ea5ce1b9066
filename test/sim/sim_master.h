// A master of a simulated world: candidacy, taking office, and a Term made of production's scheduler,
// inbox and event loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "clockwork.h"
#include "master/core/scheduler.h"
#include "master/dispatch/sender.h"
#include "master/loop/loop.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class SimMaster {
 public:
  SimMaster(World& world, std::size_t index);
  ~SimMaster();

  void start();
  /// `clean`: its watchdog ends its session at once; else the session expires.
  void crash(bool clean, Millis for_long);
  void freeze(Millis for_long);
  void jump_clock(Millis by) { clock_.skew += by; }

  bool leads() const { return alive_ && term_ != nullptr; }
  bool is_frozen() const;
  bool is_alive() const { return alive_; }
  std::optional<Epoch> epoch() const;
  /// Into the Term's inbox; false when there is none, or it does not take it.
  bool post(master::core::Event event);
  /// Takes office if it is the first candidate and may.
  void look_at_election();
  /// Looks at the workers' nodes again, a moment later.
  void watch_workers();

  /// Lists by a write and a read, as soon as ZooKeeper answers; then tells the core.
  void list_workers(std::int64_t asked);

  bool cut_from_zookeeper = false;

 private:
  class LossySender;
  struct Term;

  void heartbeat(std::int64_t life);
  bool reaches_zookeeper() const;
  void take_office(std::int64_t life);
  void sync_workers();
  void plan_turn(Micros in);
  void turn();
  void end_term(const master::loop::TermEnd& why);

  World& world_;
  const std::size_t index_;
  SkewedClock clock_;
  bool alive_ = false;
  std::int64_t life_ = 0;              ///< grows with each start; deeds of older ones are void
  std::int64_t planned_ = 0;           ///< only the newest planned turn counts
  MonoTime frozen_until_{};
  MonoTime busy_until_{};
  MonoTime rejoin_at_{};
  bool taking_office_ = false;
  std::optional<std::int64_t> candidacy_;
  std::unique_ptr<Term> term_;
};

}  // namespace rota::sim
