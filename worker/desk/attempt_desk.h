// The desk of a worker: answers the leader's orders, knows which attempts are here and who vouches for
// them, and passes on how they end. It is what every worker needs, whatever runs its attempts.
//
// Life of an attempt here: dispatch() accepts it in the table and hands it to the runner -> started, then
// ended: its outcome goes to the sink -> stored(): it is written, so it counts as finished -> acknowledged():
// only a tombstone is left.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "worker/desk/attempt_runner.h"
#include "worker/desk/attempt_table.h"
#include "worker/desk/epoch_keeper.h"
#include "worker/desk/leader_address.h"
#include "worker/desk/outcome_sink.h"

namespace rota::worker::desk {

/// What the desk tells of itself, for status and log.
struct DeskCounts {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t refused_old_epoch = 0;
  std::uint64_t finished = 0;
  std::uint64_t adopted = 0;
  std::map<model::RunState, std::uint64_t> ended;  ///< by how
};

/// A leader's hello.
struct Greeting {
  std::string cluster_uuid;
  std::string incarnation;         ///< of the life that it greets
  KnownLeader leader;
};

/// The parts that the desk works with. All of them outlive its use.
struct DeskParts {
  AttemptRunner& runner;
  OutcomeSink& sink;
  EpochKeeper& epochs;
  LeaderAddress& leader;
  const Clock& clock;
  /// Hears each change of the drain state in order, under the drain lock. `hands_over_at`: this worker
  /// stops, and hands over then what still runs. It may call the desk, but nothing of "drain" there.
  std::function<void(const model::DrainAck&, std::optional<WallTime> hands_over_at)> drain_changed{};
};

/// Owner: the worker. Thread: any, after open(). One lock guards table, vouchers and counts. It is never held
/// while the runner starts or ends something, nor while the sink is called.
class AttemptDesk final : public AttemptEvents {
 public:
  AttemptDesk(TableLimits limits, DeskParts parts);
  AttemptDesk(const AttemptDesk&) = delete;
  AttemptDesk& operator=(const AttemptDesk&) = delete;

  /// Recovers what earlier starts left: outcomes that the outbox still has to tell, and what the runner
  /// finds. The runner's errors.
  Result<void> open(const std::vector<model::AttemptReport>& unreported);

  // --- who vouches for this worker
  void begin_life(const model::WorkerKey& life);
  model::WorkerKey life() const;
  /// The cluster as ZooKeeper names it. A leader of another one is turned away.
  void set_cluster(const std::string& uuid);
  /// Stores the epoch, then refuses every lower one. Gives the highest that is known. Unavailable: it
  /// could not be stored, and nothing has changed.
  Result<Epoch> raise_epoch(const std::string& cluster_uuid, Epoch epoch);
  Epoch highest_epoch() const;
  void extend_lease(MonoTime end);
  void extend_grant(MonoTime sent, Millis grant);
  MonoTime vouched_until() const;
  /// The runner is able to end what runs, so that the worker may beat and renew.
  bool may_claim_life() const { return parts_.runner.is_in_control(); }

  // --- the leader's orders
  /// A leader has greeted this life, so from now on the life's leases count. Conflict: it leads another
  /// cluster; Unavailable: its epoch could not be stored. A deposed leader gets the inventory too, and
  /// sees the higher epoch there.
  Result<model::Inventory> hello(const Greeting& greeting);
  std::vector<OrderAnswer> dispatch(const Envelope& envelope, const std::vector<Order>& orders);
  /// None, OldEpoch or WrongLife. Unknown attempts are ignored.
  model::Refusal cancel(const Envelope& envelope, const std::vector<model::AttemptKey>& keys,
                        Millis grace);
  /// Whether new attempts are accepted. None, OldEpoch or WrongLife. `order` numbers the leader's drain
  /// orders: one that a later one has overtaken is ignored. Unset: the leader does not number them.
  model::Refusal drain(const Envelope& envelope, bool draining, std::optional<std::int64_t> order);
  model::Inventory inventory() const;

  // --- this process stops
  /// Accepts nothing new from now on, whatever the leader says.
  void stop_accepting(WallTime hands_over_at);
  /// Ends everything that runs, for another worker to run it again.
  void hand_over();
  model::DrainAck drain_ack() const;

  // --- what has become of the reports
  /// These are safe in the outbox.
  void stored(const std::vector<model::AttemptReport>& reports);
  /// The leader has these.
  void acknowledged(const std::vector<model::AttemptKey>& keys);

  // --- AttemptEvents
  bool adopted(const Adopted& attempt) override;
  void started(model::AttemptKey key, const model::WorkerKey& life, WallTime when) override;
  void said(model::RunNote note) override;
  void ended(model::AttemptKey key, const model::WorkerKey& life, model::Outcome outcome) override;
  void vouchers_unguarded(MonoTime now) override;

  // --- figures
  /// Attempts that hold slots.
  std::int32_t busy() const;
  std::int32_t used_slots() const;
  DeskCounts counts() const;

 private:
  /// Asked for before the attempt had started, so that the runner may not have known it yet.
  struct EarlyEnd {
    EndReason why = EndReason::Cancelled;
    std::optional<Millis> grace;
  };

  Result<void> learn_leader(const Greeting& greeting);
  void greet(const std::string& incarnation);
  model::Refusal check(const Envelope& envelope);
  OrderAnswer answer_order(const Envelope& envelope, const Order& order, bool is_full);
  OrderAnswer decide(const Envelope& envelope, const Order& order, bool is_full, bool& is_new);
  model::Refusal refusal_of(const Envelope& envelope, const Order& order, OrderAnswer& answer,
                            const std::optional<Unfit>& unfit, bool& is_new);
  OrderAnswer withdraw(model::AttemptKey key, const Error& why);
  void end_all(const std::vector<model::AttemptKey>& keys, EndReason why, std::optional<Millis> grace);
  void vouch_locked(MonoTime before);
  void forget_locked(model::AttemptKey key);
  void apply_drain();

  const DeskParts parts_;

  mutable std::mutex drain_mutex_;   // acquired before mutex_
  model::DrainAck told_;            // by the leader
  std::optional<WallTime> hands_over_at_;  // set: this process stops

  mutable std::mutex mutex_;
  AttemptTable table_;
  VoucherRules vouchers_;
  std::string cluster_uuid_;         // empty: not known yet
  std::map<model::AttemptKey, EarlyEnd> early_ends_;
  std::map<model::AttemptKey, Millis> disconnect_graces_;  // of attempts that have one
  DeskCounts counts_;
};

}  // namespace rota::worker::desk
