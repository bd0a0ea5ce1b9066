// A simulated cluster: masters, workers, ZooKeeper, a database, a network and clients, in virtual time
// and one thread, all from one seed. First everything goes wrong, then everything heals; at the end all
// must be accounted for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clockwork.h"
#include "marks.h"
#include "master/core/snapshot.h"
#include "random.h"
#include "sim_master.h"
#include "sim_store.h"
#include "sim_worker.h"
#include "sim_zookeeper.h"
#include "truth.h"

namespace rota::sim {

class Clients;
class Faults;

/// Thread: one.
class World {
 public:
  World(std::uint64_t seed, Marks& marks_in, bool verbose = false);
  ~World();

  /// Lives through it all. Empty, or the first promise that was broken.
  std::string run();
  std::uint64_t trace_hash() const { return hash_; }
  Millis lived() const { return std::chrono::floor<Millis>(clockwork.now() - began_); }

  // --- for its parts
  MonoTime now() const { return clockwork.now(); }
  void after(Millis delay, Clockwork::Deed deed) { clockwork.after(delay, std::move(deed)); }
  void trace(const char* what, const std::string& detail);
  /// Keeps the first; an empty one is none.
  void violate(const std::string& what);
  Millis small_delay() { return random.between(Millis{0}, Millis{3}); }
  /// A message that does not arrive, with its mark.
  bool message_lost(const char* mark);
  Millis message_delay();

  /// A message of a Term to a worker; its answer comes back as an event, however late.
  void carry(std::size_t master, Epoch epoch, master::core::Send message, Millis leaves_in);
  /// A worker's message to the master that it takes for the leader. The event is made on arrival.
  void to_leader(std::size_t worker, std::size_t master,
                 std::function<master::core::Event(Token, bool)> make);
  /// What is to be done with the reply to this token.
  void expect(Token token, std::function<void(const master::core::ReplyBody&)> then);
  Token new_token() { return Token{++tokens_}; }
  void answer(Token token, master::core::ReplyBody body, Millis leaves_in);
  void forget(Token token) { expected_.erase(token); }
  void workers_changed();
  void note_counters(const master::core::Snapshot& snapshot);

  Random random;
  Marks& marks;
  Clockwork clockwork;
  SimZookeeper zookeeper;
  SimStore store;
  Truth truth;
  std::vector<std::unique_ptr<SimMaster>> masters;
  std::vector<std::unique_ptr<SimWorker>> workers;
  int lost_per_mille = 0;      ///< of all messages
  bool lose_next_answer = false;

 private:
  void zookeeper_tick();
  void leave(std::size_t master, Epoch epoch, const master::core::Send& message);
  void carry_hello(std::size_t master, Epoch epoch, const master::core::SendHello& message);
  void carry_dispatch(std::size_t master, Epoch epoch, const master::core::SendDispatch& message);
  void carry_cancel(std::size_t master, Epoch epoch, const master::core::SendCancel& message);
  void carry_drain(std::size_t master, Epoch epoch, const master::core::SendDrain& message);
  void post(std::size_t master, Epoch epoch, master::core::Event event);
  bool linked(std::size_t master, std::size_t worker) const;
  bool live_until(MonoTime end);
  bool is_quiet() const;
  std::string judge_end() const;

  const MonoTime began_;
  const bool verbose_;
  std::uint64_t hash_ = 14'695'981'039'346'656'037ull;
  std::int64_t tokens_ = 0;
  std::map<Token, std::function<void(const master::core::ReplyBody&)>> expected_;
  std::string violation_;
  std::unique_ptr<Clients> clients_;
  std::unique_ptr<Faults> faults_;
};

}  // namespace rota::sim
