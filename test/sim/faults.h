// The faults of a simulated world, and how it heals. Each seed decides which kinds of faults there are and how
// often they strike. Each kind has random numbers of its own, so that removing a kind, or one of its strikes,
// does not change the random numbers of the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "random.h"

namespace rota::sim {

class SimMaster;
class SimWorker;
class World;

/// Thread: one. Owned by the world.
class Faults {
 public:
  explicit Faults(World& world);
  /// From now on faults happen; there is always a leader's crash and a lost answer.
  void begin();
  /// Ends the faults; everything comes back.
  void heal();
  /// Whether this seed has that kind.
  bool on(const std::string& name) const;
  bool are_healed() const { return healed_; }
  /// Kinds that are on, and single strikes that took effect ("kind", ordinal).
  std::vector<std::string> kinds_on() const;
  const std::vector<std::pair<std::string, int>>& strikes() const { return strikes_; }

 private:
  struct Kind;
  struct Active {
    const Kind* kind = nullptr;
    Random dice;
    Millis least{0};
    Millis most{0};
    int struck = 0;
  };

  static const std::vector<Kind>& all();
  bool loses_zookeeper() const;
  void drop_double_losses();
  void set_strengths();
  void plan(Active& active);
  void strike(Active& active);
  SimMaster* leader();
  SimMaster& any_master(Random& dice);
  SimWorker& any_worker(Random& dice);

  bool crash_leader(Random& dice);
  bool crash_master(Random& dice);
  bool freeze_leader(Random& dice);
  bool cut_leader_from_zookeeper(Random& dice);
  bool delete_candidate(Random& dice);
  bool jump_clock(Random& dice);
  bool drift_clock(Random& dice);
  bool step_clocks_together(Random& dice);
  void watch_clocks();
  bool stop_zookeeper(Random& dice);
  bool cut_follower(Random& dice);
  bool lag_follower(Random& dice);
  bool wipe_zookeeper(Random& dice);
  bool restore_zookeeper(Random& dice);
  bool lose_zookeepers_data(Random& dice, bool all);
  bool copy_node(Random& dice);
  bool stop_database(Random& dice);
  bool freeze_in_transaction(Random& dice);
  bool lag_nodes(Random& dice);
  bool restore_database(Random& dice);
  bool promote_replica(Random& dice);
  bool put_copy_back(Random& dice);
  void watch_alarm();
  bool begin_second_cluster(Random& dice);
  bool delete_nodes(Random& dice);
  void watch_strangers();
  bool epochs_are_known() const;
  bool crash_proper(Random& dice);
  bool freeze_proper(Random& dice);
  bool crash_warden(Random& dice);
  bool lose_host(Random& dice);
  bool freeze_host(Random& dice);
  bool lose_disk(Random& dice);
  bool replace_host(Random& dice);
  bool cut_worker_from_zookeeper(Random& dice);
  bool cut_worker_from_masters(Random& dice);
  bool cut_worker_off(Random& dice);
  bool cut_one_way(Random& dice);
  bool drain(Random& dice);
  bool end_sessions(Random& dice);
  void end_sessions_of(SimWorker& worker, MonoTime until, Random dice);
  bool fill_outbox(Random& dice);
  bool flip_bit(Random& dice);
  bool jump_worker_clock(Random& dice);

  World& world_;
  Random drawn_;                         ///< decides what is on, and how strong
  bool healed_ = false;
  bool watches_alarm_ = false;
  std::optional<MonoTime> accept_at_;
  bool watches_clocks_ = false;
  std::optional<MonoTime> held_off_since_;
  MonoTime healed_at_{};
  std::vector<Active> active_;
  std::vector<std::string> passive_;     ///< kinds without strikes that are on
  std::vector<std::pair<std::string, int>> strikes_;
};

}  // namespace rota::sim
