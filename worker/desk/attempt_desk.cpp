// What the leader asks of the desk: who may command it, what it accepts, what it ends.
#include "worker/desk/attempt_desk.h"

#include <utility>

#include "common/base/log.h"

namespace rota::worker::desk {

using model::Refusal;

namespace {

std::string text_of(const model::Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace

AttemptDesk::AttemptDesk(TableLimits limits, DeskParts parts) : parts_(std::move(parts)), table_(limits) {}

// --- who vouches for this worker

void AttemptDesk::begin_life(const model::WorkerKey& life) {
  std::scoped_lock lock(mutex_);
  table_.begin_life(life);
  vouchers_.begin_life();
}

model::WorkerKey AttemptDesk::life() const {
  std::scoped_lock lock(mutex_);
  return table_.life();
}

void AttemptDesk::set_cluster(const std::string& uuid) {
  std::scoped_lock lock(mutex_);
  cluster_uuid_ = uuid;
}

Result<Epoch> AttemptDesk::raise_epoch(const std::string& cluster_uuid, Epoch epoch) {
  const auto highest = parts_.epochs.raise(cluster_uuid, epoch);
  if (!highest) return highest;
  std::scoped_lock lock(mutex_);
  table_.raise_epoch(*highest);
  return table_.highest_epoch();
}

Epoch AttemptDesk::highest_epoch() const {
  std::scoped_lock lock(mutex_);
  return table_.highest_epoch();
}

void AttemptDesk::extend_lease(MonoTime end) {
  std::scoped_lock lock(mutex_);
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.extend_lease(end);
  vouch_locked(before);
}

void AttemptDesk::extend_grant(MonoTime sent, Millis grant) {
  std::scoped_lock lock(mutex_);
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.extend_grant(sent, grant);
  vouch_locked(before);
}

MonoTime AttemptDesk::vouched_until() const {
  std::scoped_lock lock(mutex_);
  return vouchers_.vouched_until();
}

/// Tells the runner when the end has moved. Under the lock, so that an older end never overtakes.
void AttemptDesk::vouch_locked(MonoTime before) {
  if (vouchers_.vouched_until() > before) parts_.runner.vouch(vouchers_.vouched_until());
}

// --- the leader's orders

Result<model::Inventory> AttemptDesk::hello(const Greeting& greeting) {
  if (auto learned = learn_leader(greeting); !learned) return fail(learned.error());
  return inventory();
}

Result<void> AttemptDesk::learn_leader(const Greeting& greeting) {
  const KnownLeader& leader = greeting.leader;
  {
    std::scoped_lock lock(mutex_);
    if (!cluster_uuid_.empty() && cluster_uuid_ != greeting.cluster_uuid) {
      return fail(ErrorCode::Conflict, "this worker belongs to the cluster " + cluster_uuid_ +
                                           ", not to " + greeting.cluster_uuid);
    }
  }
  const auto highest = raise_epoch(greeting.cluster_uuid, leader.epoch);
  if (!highest) return fail(ErrorCode::Unavailable, "epoch not stored: " + highest.error().message);
  if (*highest > leader.epoch) return {};  // deposed: the inventory tells it so
  if (!(parts_.leader.get() == leader)) {
    log_info("api", "a leader said hello",
             {{"epoch", leader.epoch.value}, {"leader", text_of(leader.address)}});
  }
  parts_.leader.set(leader);
  greet(greeting.incarnation);
  return {};
}

void AttemptDesk::greet(const std::string& incarnation) {
  std::scoped_lock lock(mutex_);
  if (incarnation != table_.life().incarnation) return;
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.greet();
  vouch_locked(before);
}

model::Inventory AttemptDesk::inventory() const {
  model::Inventory all;
  {
    std::scoped_lock lock(mutex_);
    all = table_.inventory();
  }
  all.drain = drain_ack();
  return all;
}

std::vector<OrderAnswer> AttemptDesk::dispatch(const Envelope& envelope, const std::vector<Order>& orders) {
  const bool is_full = parts_.sink.is_full();
  std::vector<OrderAnswer> answers;
  answers.reserve(orders.size());
  for (const Order& order : orders) answers.push_back(answer_order(envelope, order, is_full));
  return answers;
}

OrderAnswer AttemptDesk::answer_order(const Envelope& envelope, const Order& order, bool is_full) {
  bool is_new = false;
  OrderAnswer answer = decide(envelope, order, is_full, is_new);
  if (answer.refusal == Refusal::OldEpoch) {
    log_warn("run", "refused a dispatch of a deposed leader",
             {{"run", order.key.run.value}, {"epoch", envelope.epoch.value}});
  }
  if (!is_new) return answer;
  const auto started = parts_.runner.start(envelope, order);
  return started ? answer : withdraw(order.key, started.error());
}

OrderAnswer AttemptDesk::decide(const Envelope& envelope, const Order& order, bool is_full,
                                bool& is_new) {
  const auto unfit = parts_.runner.check(order);  // may read files, so before the lock
  OrderAnswer answer{order.key, Refusal::None, {}};
  std::scoped_lock lock(mutex_);
  // The table refuses for a full outbox: what is held already must be accepted again.
  table_.set_full(is_full);
  answer.refusal = refusal_of(envelope, order, answer, unfit, is_new);
  if (is_new) ++counts_.accepted;
  if (is_new && order.disconnect_grace > Millis{0}) {
    disconnect_graces_[order.key] = order.disconnect_grace;
  }
  if (answer.refusal != Refusal::None) ++counts_.refused;
  if (answer.refusal == Refusal::OldEpoch) ++counts_.refused_old_epoch;
  return answer;
}

/// Under the lock. Who may command comes first; what is held already is never refused as unfit.
Refusal AttemptDesk::refusal_of(const Envelope& envelope, const Order& order, OrderAnswer& answer,
                                const std::optional<Unfit>& unfit, bool& is_new) {
  if (const Refusal refusal = table_.check(envelope); refusal != Refusal::None) return refusal;
  if (unfit && table_.find(order.key) == nullptr) {
    answer.detail = unfit->detail;
    return table_.refuse(order.key, unfit->refusal);
  }
  const auto verdict = table_.accept(envelope, order.key, vouchers_, parts_.clock.mono(), order.demand);
  is_new = verdict.is_new;
  const bool is_wide = !order.demand.is_plain();
  if (verdict.refusal == Refusal::NoSlot && is_wide) answer.detail = table_.lacking(order.demand);
  return verdict.refusal;
}

OrderAnswer AttemptDesk::withdraw(model::AttemptKey key, const Error& why) {
  std::scoped_lock lock(mutex_);
  table_.withdraw(key);
  forget_locked(key);
  return {key, Refusal::NoSlot, why.message};
}

Refusal AttemptDesk::check(const Envelope& envelope) {
  std::scoped_lock lock(mutex_);
  const Refusal refusal = table_.check(envelope);
  if (refusal == Refusal::OldEpoch) ++counts_.refused_old_epoch;
  return refusal;
}

Refusal AttemptDesk::cancel(const Envelope& envelope, const std::vector<model::AttemptKey>& keys,
                            Millis grace) {
  if (const Refusal refusal = check(envelope); refusal != Refusal::None) return refusal;
  end_all(keys, EndReason::Cancelled, grace);
  return Refusal::None;
}

/// An attempt that has not started yet may be unknown to the runner, so its end is asked for again then.
void AttemptDesk::end_all(const std::vector<model::AttemptKey>& keys, EndReason why,
                          std::optional<Millis> grace) {
  {
    std::scoped_lock lock(mutex_);
    for (const model::AttemptKey& key : keys) {
      const TableEntry* entry = table_.find(key);
      const bool is_early = entry != nullptr && entry->state == TableEntry::State::Accepted;
      if (is_early) early_ends_.emplace(key, EarlyEnd{why, grace});
    }
  }
  for (const model::AttemptKey& key : keys) parts_.runner.end(key, why, grace);
}

/// Under the lock: what is kept beside the table.
void AttemptDesk::forget_locked(model::AttemptKey key) {
  early_ends_.erase(key);
  disconnect_graces_.erase(key);
}

}  // namespace rota::worker::desk
