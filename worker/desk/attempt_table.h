// What this worker holds, accepts and refuses: the worker's own small core. Pure: no clock, no thread,
// no I/O; time comes in as an argument. The shell persists the epoch and the outcomes, starts and kills.
//
//
// A tombstone remembers, for at most an hour, that an attempt ended here, so that a late repeat of its
// dispatch starts nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"
#include "worker/desk/order.h"
#include "worker/desk/voucher_rules.h"

namespace rota::worker::desk {

struct TableLimits {
  std::int32_t slots = 1;
  model::Amounts offers = {};          ///< beside them
  Millis tombstone_age{3'600'000};
  std::size_t tombstones = 100'000;
  std::size_t told_tombstones = 10'000;  ///< the newest so many stand in an inventory
};

/// An attempt that is not acknowledged yet.
struct TableEntry {
  enum class State { Accepted, Running, Finished };
  model::AttemptKey key;
  model::WorkerKey life;      ///< in which it was accepted
  State state = State::Accepted;
  WallTime started{};         ///< Running, Finished
  model::Outcome outcome;     ///< Finished
  model::Demand demand = {};  ///< what it takes until its end is proven
};

/// Owner: the desk. Thread: the owner's; it has no lock of its own.
class AttemptTable {
 public:
  explicit AttemptTable(TableLimits limits) : limits_(limits) {}

  /// A new session or a new start of the proper: dispatches for an older life are refused from now on.
  /// What is held stays held; tombstones of older lives are forgotten.
  void begin_life(const model::WorkerKey& life);
  const model::WorkerKey& life() const { return life_; }

  /// Notes an epoch; true when it is higher than any before. The shell has stored it already.
  bool raise_epoch(Epoch epoch);
  Epoch highest_epoch() const { return highest_epoch_; }

  /// Draining: nothing new is accepted.
  void set_draining(bool draining) { draining_ = draining; }
  bool is_draining() const { return draining_; }
  /// No room for more outcomes: nothing new is accepted. What is held is still accepted again.
  void set_full(bool full) { full_ = full; }

  /// Whether a sender may command this life: None, OldEpoch or WrongLife.
  model::Refusal check(const Envelope& envelope) const;

  /// Accepts an attempt, or says why not. None also for one that is held already: then `is_new` is
  /// false and nothing is to be started. A refusal is final in this life: a late copy of the dispatch
  /// starts nothing after the leader has chosen again.
  struct Verdict {
    model::Refusal refusal = model::Refusal::None;
    bool is_new = false;
  };
  Verdict accept(const Envelope& envelope, model::AttemptKey key, const VoucherRules& vouchers,
                 MonoTime now, const model::Demand& demand = {});

  /// It runs. False when it is not held as Accepted.
  bool started(model::AttemptKey key, WallTime when);

  /// It could not be started: as if it had never come. False when it is not held as Accepted.
  bool withdraw(model::AttemptKey key);

  /// It ended; its outcome is stored already. False when it is not held or had ended before. An
  /// attempt whose death is not proven (KillFailed, except CleanupFailed) keeps what it takes forever.
  bool finished(model::AttemptKey key, const model::Outcome& outcome);

  /// What it may not accept for the runner's sake; final like its own refusals. Gives `refusal` back.
  model::Refusal refuse(model::AttemptKey key, model::Refusal refusal);

  /// The leader has stored the outcome. False when it was not held as Finished.
  bool acknowledged(model::AttemptKey key, MonoTime now);

  /// After a restart of the proper: what the warden still holds (Running), or an outcome of the outbox
  /// (Finished). False when the key is held already.
  bool adopt(const TableEntry& entry);
  /// After a restart of the proper, of an attempt that is held: what the warden noted that it takes.
  void set_demand(model::AttemptKey key, const model::Demand& demand);

  /// Drops tombstones past their age. accept and acknowledged do it by themselves.
  void expire(MonoTime now);

  /// All that is held, keys in order; then the newest tombstones.
  model::Inventory inventory() const;

  const TableEntry* find(model::AttemptKey key) const;
  const std::map<model::AttemptKey, TableEntry>& entries() const { return entries_; }
  /// Accepted or Running.
  std::int32_t busy() const { return busy_; }
  /// Slots that attempts take, those of dead ones included whose death was not proven.
  std::int32_t used_slots() const { return used_slots_; }
  /// Slots that may be used now.
  std::int32_t free_slots() const { return limits_.slots - used_slots_; }
  std::int64_t free_of(const std::string& name) const {
    return model::amount_of(limits_.offers, name) - model::amount_of(used_, name);
  }
  /// What is not free of that, "memory: 8GiB needed, 4GiB free"; empty: all is.
  std::string lacking(const model::Demand& demand) const;
  std::size_t tombstone_count() const { return buried_.size(); }

 private:
  void bury(model::AttemptKey key, MonoTime now);
  void take(const model::Demand& demand, std::int32_t by);

  TableLimits limits_;
  model::WorkerKey life_;
  Epoch highest_epoch_;
  bool draining_ = false;
  bool full_ = false;
  std::int32_t busy_ = 0;
  std::int32_t used_slots_ = 0;
  model::Amounts used_;
  std::map<model::AttemptKey, TableEntry> entries_;
  std::deque<std::pair<MonoTime, model::AttemptKey>> burials_;  ///< oldest first
  std::set<model::AttemptKey> buried_;
  std::map<model::AttemptKey, model::Refusal> refused_;  ///< in this life, finally; bounded like tombstones
};

}  // namespace rota::worker::desk
