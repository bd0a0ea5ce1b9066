// A worker of a simulated world: warden and proper that can end separately, sessions and beats, an outbox
// that survives, and production's attempt table, voucher rules and lease rules.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/model/worker.h"
#include "common/zk/client.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "clockwork.h"
#include "sim_disk.h"
#include "worker_node.h"
#include "worker/desk/attempt_table.h"
#include "worker/desk/voucher_rules.h"

namespace rota::sim {

class World;

/// That some jobs need and some workers know.
inline constexpr std::array<const char*, 2> kHandlers = {"sums", "products"};

/// Thread: one. Owned by the world.
class SimWorker {
 public:
  SimWorker(World& world, std::size_t index, std::string id, std::int32_t slots);

  // --- requests of the leader; empty when no process answers at that port
  std::optional<model::Inventory> hello(Epoch epoch, std::size_t master, const model::WorkerKey& to);
  std::optional<std::vector<master::core::DispatchVerdict>> dispatch(
      Epoch epoch, const master::core::SendDispatch& message);
  /// Why it was refused; None: it was obeyed, or nobody is there.
  model::Refusal cancel(Epoch epoch, const master::core::SendCancel& message);
  model::Refusal drain(Epoch epoch, const master::core::SendDrain& message);

  // --- what happens to it
  void start_host();
  void crash_proper();
  void crash_warden();
  /// `with_disk`: it returns with an empty state folder.
  void lose_host(Millis for_long, bool with_disk = false);
  /// A second host for an id; it comes up only when it replaces the first.
  void be_spare() { spare_ = true; }
  bool is_spare() const { return spare_; }
  /// It never comes back.
  void retire();
  /// Somebody ends its session with ZooKeeper.
  void lose_session();
  /// Only the proper stops; the warden goes on.
  void freeze_proper(Millis for_long);
  /// The whole host stands still, jobs and warden too, and then goes on.
  void freeze_host(Millis for_long);
  bool stands_still() const;
  void set_draining(bool draining);
  void set_full(bool full);
  /// Flips a bit of its outbox file; false when there is none.
  bool flip_bit(Random& dice);
  void set_skew(Millis by) { clock_.skew = by; }
  void mend_clock() { clock_.mend(); }
  /// Whether a slot is lost until somebody restarts the worker.
  bool has_lost_slots() const { return lost_slots_; }
  bool runs_something() const { return !processes_.empty(); }
  bool is_quiet() const { return processes_.empty() && untold_.empty() && outbox_.empty(); }
  bool is_up() const { return host_up_; }
  bool is_registered() const;
  /// Of its present warden.
  model::StartKey start_key() const { return {id_, start_id()}; }
  /// A leader has said hello to its present life.
  bool is_greeted() const { return leader_.has_value(); }
  const std::string& id() const { return id_; }
  /// What its node says.
  model::WorkerInfo info() const;
  /// So many dispatches it has refused.
  int refusals() const { return refusals_; }
  /// When the proper goes on, if it is stopped.
  MonoTime frozen_until() const { return frozen_until_; }

  bool cut_from_zookeeper = false;
  bool cut_from_masters = false;

 private:
  std::optional<model::WorkerVitals> vitals();
  struct Process {
    std::int64_t serial = 0;
    WallTime started{};
    Millis disconnect_grace{0};
    model::WorkerKey life;
    std::optional<model::StoodStill> stood_still = {};  ///< beyond its vouchers
    bool has_cleanup = false;
    bool is_cleaning = false;       ///< it has ended so, and its cleanup runs
    bool is_released = false;       ///< for the judge it ended before its cleanup did
    model::Outcome outcome = {};
  };

  std::string start_id() const;
  bool reaches_zookeeper() const;
  Millis left_of_stillness() const;
  void thaw();
  void lapse_if_due();
  std::string beat_path() const { return kBeatsFolder + "/" + key_.id + "@" + key_.incarnation; }
  bool acts(std::int64_t life) const;
  void reconnect();
  bool is_refused() const;
  void keep_handle();
  void start_proper();
  void begin_life();
  void tell_draining();
  void try_register(std::int64_t life);
  void settle(std::int64_t life, int tries);
  bool others_are_gone() const;
  void end_older_lives();
  void leave();
  void beat(std::int64_t life);
  void renew(std::int64_t life);
  void send_renew();
  void report(std::int64_t life);
  void send_reports();
  void report_start(model::AttemptKey key);
  void write_outcomes(std::int64_t start);
  void read_outbox();
  void look_at_vouchers();
  void lapse();
  void start(Epoch epoch, const master::core::DispatchItem& item);
  void end_process(model::AttemptKey key, std::int64_t serial, model::Outcome outcome);
  void tell_end(model::AttemptKey key, const model::WorkerKey& life, model::Outcome outcome);
  void kill_unvouched(model::AttemptKey key, std::int64_t serial);
  void release_cleanup(model::AttemptKey key);
  // sim_cleanups.cpp
  bool begin_cleanup(model::AttemptKey key, Process& process, const model::Outcome& outcome);
  void clean_up(model::AttemptKey key, std::int64_t serial);
  void end_cleanup(model::AttemptKey key, std::int64_t serial);
  void clean_up_behind_the_dead();
  bool is_cleaning_up(RunId run) const;
  void kill_all_silently();
  void lose_disk();
  void hear_of(Epoch epoch);
  void note(model::Refusal refusal, bool is_new);

  World& world_;
  const std::size_t index_;
  const std::string id_;
  const std::int32_t slots_;
  const model::Amounts offers_;
  std::size_t server_ = 0;              ///< of ZooKeeper
  bool host_up_ = false;
  bool spare_ = false;
  bool retired_ = false;
  bool proper_up_ = false;
  bool registered_ = false;
  bool draining_ = false;
  bool drain_told_ = false;
  std::int64_t drain_order_ = 0;
  bool full_ = false;
  bool lapsed_ = false;
  int disks_ = 1;
  MonoTime frozen_until_{};
  MonoTime still_until_{};              ///< the whole host
  std::int64_t wardens_ = 0;            ///< that it has had
  std::int64_t life_ = 0;               ///< number of the present incarnation; deeds of older ones are void
  std::int64_t starts_ = 0;             ///< of the proper
  std::int64_t serials_ = 0;
  MonoTime last_lease_{};               ///< of an answered beat of this life
  zk::SessionId session_ = 0;
  std::int64_t handle_seen_ = 0;        ///< the last change that its handle knows of
  std::optional<MonoTime> cut_since_;   ///< since when it has no connection
  int breaks_ = 0;
  bool resumed_ = false;                ///< after a cut; its node is not written again yet
  model::WorkerKey key_;
  std::string node_path_;
  std::unique_ptr<worker::desk::AttemptTable> table_;
  worker::desk::VoucherRules vouchers_;
  Epoch epoch_on_disk_;
  Epoch told_;                          ///< the highest epoch that this host knows, for the judge
  std::optional<std::size_t> leader_;
  std::map<model::AttemptKey, Process> processes_;
  std::map<model::AttemptKey, model::Demand> taken_;  ///< what each attempt takes that ever began here
  std::map<model::AttemptKey, model::WorkerKey> owed_;  ///< cleanups, on its disk; in whose life they began
  std::map<model::AttemptKey, model::AttemptReport> untold_;  ///< ended; the warden remembers them
  std::map<model::AttemptKey, model::AttemptReport> outbox_;  ///< synced, not acknowledged
  SimDisk disk_;
  bool writing_ = false;
  bool lost_slots_ = false;
  int hellos_ = 0;
  MonoTime hellos_since_{};
  bool bit_flipped_ = false;
  int refusals_ = 0;
  Random host_dice_;                    ///< its own, so that all else of the worlds stays as it is
  int cpu_percent_ = 0;
  SkewedClock clock_;
};

}  // namespace rota::sim
