// A master of a simulated world: candidacy by production's election rules, office by production's takeover,
// a clock that production's guard checks, and a Term made of production's scheduler, inbox and event loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "clockwork.h"
#include "common/zk/paths.h"
#include "master/cluster/lease_elector.h"
#include "master/upkeep/clock_acceptance.h"
#include "master/upkeep/clock_guard.h"
#include "master/core/scheduler.h"
#include "master/dispatch/sender.h"
#include "master/loop/loop.h"
#include "master/office/takeover.h"
#include "master/upkeep/zookeeper_keeper.h"
#include "master/office/zookeeper_word.h"
#include "sim_office.h"
#include "sim_zk_client.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class SimMaster {
 public:
  /// A master of another cluster has a ZooKeeper of its own.
  SimMaster(World& world, std::size_t index, SimZookeeper& zookeeper);
  ~SimMaster();

  void start();
  /// `clean`: its watchdog ends its session at once; otherwise the session expires.
  void crash(bool clean, Millis for_long);
  void freeze(Millis for_long);
  void jump_clock(Millis by) { clock_.skew += by; }
  void drift_clock(int per_mille) { clock_.drift(per_mille); }
  WallTime wall() const { return clock_.wall(); }
  void mend_clock() { clock_.mend(); }
  /// Somebody deletes its candidate node.
  void lose_candidacy();
  /// The operator accepts a restored database through this master; false when that failed.
  bool accept_restore();
  /// The operator accepts the present clocks, through this master's ZooKeeper; false: no master holds ticks for them.
  bool accept_clocks();
  /// The operator gives back ticks recorded ahead of the clock, through this master's ZooKeeper and clock.
  void rewind_ticks();
  /// How far its clock is ahead of the true time (negative: behind).
  Millis clock_error() const;
  /// Its clock has stepped and it holds no ticks, although it has checked the clock several times.
  bool fires_by_a_stepped_clock() const;
  /// The operator says that this master's ZooKeeper is the database's; false when that failed.
  bool accept_zookeeper(bool workers_gone);
  /// The latest reason that kept it from office; empty: none.
  const std::string& held_off() const { return held_off_; }
  const std::string& name() const { return name_; }
  /// Whether it belongs to the first cluster, or to one with a ZooKeeper of its own.
  bool is_stranger() const;
  /// Ends it; it does not come back by itself.
  void stop() {
    crash(true, Millis::max());
    ++life_;
  }

  bool leads() const { return alive_ && term_ != nullptr; }
  bool is_frozen() const;
  bool is_alive() const { return alive_; }
  /// Whether its candidate node exists.
  bool stands() const;
  Millis grant() const { return grant_; }
  std::optional<Epoch> epoch() const;
  MonoTime mono() const { return clock_.mono(); }
  /// Posts into the Term's inbox; false when there is none, or it refuses.
  bool post(master::core::Event event);
  /// Enters office if it is the first candidate and may.
  void look_at_election();
  /// A worker's node changed: lists again a moment later.
  void watch_workers();
  /// Lists with a write and a read as soon as ZooKeeper answers; then tells the core.
  void list_workers(std::int64_t asked);
  void watch_beat(const model::WorkerKey& key);

  bool cut_from_zookeeper = false;

 private:
  class LossySender;
  struct Term;

  void heartbeat(std::int64_t life);
  void keep_session();
  void keep_handle();
  void attach_anew();
  void remove_ghosts();
  bool is_refused() const;
  void look_anew();
  bool prove();
  void note_folder(const zk::NodeStat& folder);
  std::map<std::string, std::string> list_nodes();
  std::set<std::string> awaited_workers(const std::map<std::string, std::string>& listed);
  void hear(const zk::Event& event);
  void send_notification(const model::Notification& row);
  void call_hook(const model::ScaleChange& row);
  void hear_of_beat(const zk::Event& event);
  void look_at_database(std::int64_t life);
  void tell_hold();
  void follow_clock();
  void make_guard();
  void keep_zookeeper(bool lets_go);
  void note_refusal(const Error& error);
  void note_progress();
  void raise_alarm();
  bool reaches_zookeeper() const;
  void reconnect();
  SimZkClient zookeeper_client(ZkCallFaults faults = {}, std::function<void()> between = {});
  /// `between`: another master came in the middle of a takeover.
  void enter_office(bool between);
  void begin_term(master::Office office);
  bool sync_workers();
  void sync_again(Millis in);
  void plan_turn(Micros in);
  void turn();
  void end_term(const master::loop::TermEnd& why);
  void drop_term();
  void stand_back(Millis pause);
  bool may_lead() const;
  void plan_office();
  void begin_elector();
  void look_at_lease(std::int64_t life);
  void leave_election();

  World& world_;
  const std::size_t index_;
  SimZookeeper& zookeeper_;
  const zk::Paths paths_{"sim"};
  const Millis grant_;
  std::size_t server_ = 0;             ///< of ZooKeeper
  SkewedClock clock_;
  std::unique_ptr<master::ClockGuard> guard_;
  std::unique_ptr<master::ClockHoldNote> clock_note_;
  SimOffice office_;
  const std::string name_;
  master::QuietWatch quiet_;
  master::ZookeeperKeeper keeper_;
  std::string held_off_;
  bool alive_ = false;
  bool saw_database_ = false;          ///< in this life; without it, it is no candidate
  std::int64_t life_ = 0;              ///< grows with each start; deeds of older lives are void
  std::int64_t planned_ = 0;           ///< only the newest planned turn counts
  MonoTime frozen_until_{};
  MonoTime busy_until_{};
  MonoTime rejoin_at_{};
  bool office_planned_ = false;
  bool taking_office_ = false;
  bool watch_armed_ = false;
  zk::SessionId session_ = 0;
  std::int64_t handle_seen_ = 0;       ///< the last change that its handle knows of
  std::optional<MonoTime> cut_since_;  ///< since when it has no connection
  int breaks_ = 0;                     ///< broken connections that it knows of
  bool may_have_ghosts_ = false;       ///< candidates of its own session that came back with older data
  std::string candidacy_;              ///< the path of its node in the election
  std::string lease_tag_;              ///< of the last candidacy for the lease, also of an earlier process
  std::shared_ptr<bool> lives_;        ///< the process of `elector_`
  std::unique_ptr<master::cluster::LeaseElector> elector_;  ///< in worlds with a lease
  std::string leaving_;                ///< a node that it could not remove yet
  std::int64_t seen_zxid_ = 0;         ///< of the tree whose listing is already handled
  std::int64_t looks_ = 0;
  std::map<std::string, MonoTime> beats_read_;  ///< watched beats, and when each was read
  bool began_in_step_ = false;         ///< and trusted the wrong clock, because no other clock disagreed
  int stepped_looks_ = 0;              ///< checks in a row while the clock is off
  master::StoredMark last_stored_;     ///< of the last Term of this process
  std::unique_ptr<Term> term_;
};

}  // namespace rota::sim
