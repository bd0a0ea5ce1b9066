// A simulated cluster: masters, workers, ZooKeeper, a database, a network and clients, in virtual time and
// one thread, all from one seed. First everything goes wrong, then everything heals; at the end everything
// must be accounted for.
#pragma once

#include <cstdint>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clockwork.h"
#include "marks.h"
#include "master/core/scheduler.h"
#include "master/core/snapshot.h"
#include "random.h"
#include "recipe.h"
#include "route_watch.h"
#include "sim_master.h"
#include "sim_hooks.h"
#include "sim_receivers.h"
#include "sim_lease.h"
#include "sim_store.h"
#include "sim_worker.h"
#include "sim_zookeeper.h"
#include "truth.h"

namespace rota::sim {

class Clients;
class Faults;

/// One direction between a master and a worker in which nothing arrives.
struct Cut {
  bool to_worker = false;
  std::size_t master = 0;
  std::size_t worker = 0;
  auto operator<=>(const Cut&) const = default;
};

/// Bounds of queues and tables; tiny bounds find most faults.
struct Limits {
  std::size_t inbox_reports = 10'000;
  std::size_t inbox_requests = 10'000;
  std::size_t events_per_turn = 2000;
  std::size_t beside_from = 64;          ///< see LoopOptions
  std::int32_t fire_at_most = 5000;
  std::int32_t children_at_most = 1000;
  std::int64_t crowd = 0;               ///< jobs that are due in one moment, more than fire_at_most
  std::size_t tombstones = 100'000;
  std::size_t told_tombstones = 10'000;
  std::size_t reports_per_call = 1000;
  Millis store_give_up{6000};
  Millis quiet{10'000};        ///< before a ZooKeeper that the database does not know is adopted
  int check_percent = 20;      ///< of turns after which the core checks itself
};

/// Thread: one.
class World {
 public:
  World(const Recipe& recipe_in, Marks& marks_in);
  ~World();

  /// Runs everything. Empty, or the first broken promise.
  std::string run();
  std::uint64_t trace_hash() const { return hash_; }
  Millis lived() const { return std::chrono::floor<Millis>(clockwork.now() - began_); }

  // --- for its parts
  MonoTime now() const { return clockwork.now(); }
  void after(Millis delay, Clockwork::Deed deed) { clockwork.after(delay, std::move(deed)); }
  void trace(const char* what, const std::string& detail);
  /// Keeps the first violation; an empty text is none.
  void violate(const std::string& what);
  Millis small_delay() { return random.between(Millis{0}, Millis{3}); }
  /// A message that does not arrive, with its mark.
  bool message_lost(const char* mark);
  Millis message_delay();

  /// A message of a Term to a worker; its answer comes back as an event, maybe very late.
  void carry(std::size_t master, Epoch epoch, master::core::Send message, Millis leaves_in);
  /// A worker's message to the master that it believes to be the leader. The event is created on arrival.
  void to_leader(std::size_t worker, std::size_t master, std::function<master::core::Event(Token)> make,
                 std::function<void(const master::core::ReplyBody&)> then);
  /// What to do with the reply to this token.
  void expect(Token token, std::function<void(const master::core::ReplyBody&)> then);
  Token new_token() { return Token{++tokens_}; }
  void answer(Token token, master::core::ReplyBody body, Millis leaves_in);
  void forget(Token token) { expected_.erase(token); }
  void note_office(master::OfficeRuling ruling);
  void note_counters(const master::core::Snapshot& snapshot);
  bool faults_on(const std::string& kind) const;
  /// No wall clock is wrong in this world, by a fault: times that different hosts wrote can be compared.
  bool clocks_tell() const;
  bool is_healed() const;
  /// In others no worker is slow or fails too much, so that keys of jobs keep their homes.
  bool has_half_shares() const { return recipe.seed % 2 == 1; }
  /// When workers get less, in this world.
  void set_state_limits(master::core::CoreOptions& options) const {
    options.hold_first = Millis{800 + static_cast<std::int64_t>(recipe.seed % 5) * 600};
    options.return_crowd = recipe.seed % 5 == 2 ? 1 : 20;
    options.scale_cool_down = Millis{1000 + static_cast<std::int64_t>(recipe.seed % 4) * 1500};
    options.scale_average = Millis{static_cast<std::int64_t>(recipe.seed % 3) * 1000};
    if (!has_half_shares()) options.slow_answer = Millis{3'600'000};
  }
  /// Worker 0 fails whatever it runs, until all is healed.
  bool has_bad_worker() const { return recipe.seed % 4 == 1 && !is_healed(); }
  /// The masters and the database run on one host, whose clock steps.
  bool shares_host() const { return faults_on("clocks_together"); }
  const Faults& faults() const { return *faults_; }
  /// What ZooKeeper was told about the database's content.
  master::StoredMark noted_in_zookeeper();
  /// ZooKeeper has lost data: if nothing else goes wrong, all must be registered again in two session timeouts. If
  /// it was wiped, the servers know nothing older: then all must also be usable.
  void await_registrations(bool is_wiped);
  /// The second host for this worker's id; null when there is none.
  SimWorker* spare_of(const SimWorker& worker);

  const Recipe recipe;
  Limits limits;
  Random random;
  Marks& marks;
  Clockwork clockwork;
  SimZookeeper zookeeper;
  SimZookeeper other_zookeeper;  ///< of a second cluster
  SimStore store;
  std::unique_ptr<SimLease> lease;  ///< decides who is elected; empty: ZooKeeper does
  Truth truth;
  RouteWatch routes{*this};
  SimReceivers receivers{*this};
  SimHooks hooks{*this};
  std::vector<std::unique_ptr<SimMaster>> masters;
  std::vector<std::unique_ptr<SimWorker>> workers;
  int lost_per_mille = 0;      ///< of all messages
  int late_per_mille = 0;
  int doubled_per_mille = 0;
  int zk_call_lost = 0;        ///< per mille
  int zk_call_between = 0;
  int zk_call_dies = 0;
  int unproven_percent = 5;    ///< of kills
  std::set<Cut> cuts;
  int workers_mended = 0;      ///< workers that an operator restarted because of lost slots
  int lapses = 0;              ///< of workers that ran something
  /// ZooKeeper broke again before its clients had recovered: a life that registered between the two is unknown to
  /// the leader, and then has no voucher at all.
  bool zookeeper_broke_twice = false;
  std::optional<MonoTime> zookeeper_broke_at;

 private:
  void zookeeper_tick();
  void leave(std::size_t master, Epoch epoch, const master::core::Send& message);
  void carry_hello(std::size_t master, Epoch epoch, const master::core::SendHello& message);
  void carry_dispatch(std::size_t master, Epoch epoch, const master::core::SendDispatch& sent);
  void carry_cancel(std::size_t master, Epoch epoch, const master::core::SendCancel& message);
  void carry_drain(std::size_t master, Epoch epoch, const master::core::SendDrain& message);
  void tell_refusal(std::size_t master, Epoch epoch, const model::WorkerKey& worker, model::Refusal why);
  void post(std::size_t master, Epoch epoch, master::core::Event event);
  using Answer = std::function<void(const std::optional<std::vector<master::core::DispatchVerdict>>&)>;
  using Sent = std::shared_ptr<const master::core::SendDispatch>;
  void arrive(std::size_t master, Epoch epoch, const Sent& message, const Answer& answer);
  bool waits_for(std::size_t worker, Clockwork::Deed deed);
  bool hears(bool to_worker, std::size_t master, std::size_t worker) const;
  void draw_limits();
  void populate();
  std::string judge_health() const;
  std::string judge_verified() const;
  bool live_until(MonoTime end);
  bool has_ended(const model::Run& run) const;
  bool is_quiet() const;
  std::string judge_end() const;
  std::string judge_single() const;
  std::string judge_registered(bool is_wiped) const;

  const MonoTime began_;
  std::uint64_t hash_ = 14'695'981'039'346'656'037ull;
  std::int64_t tokens_ = 0;
  std::map<Token, std::function<void(const master::core::ReplyBody&)>> expected_;
  std::string violation_;
  int losses_of_zookeeper_ = 0;
  std::unique_ptr<Clients> clients_;
  std::unique_ptr<Faults> faults_;
};

}  // namespace rota::sim
