#include "worker/desk/attempt_table.h"

#include <fmt/format.h>

#include "common/base/size_text.h"

namespace rota::worker::desk {

using model::Refusal;
using model::RunState;

namespace {

/// Its processes may still live, so that what they use is no free slot.
bool may_live(const model::Outcome& outcome) {
  return outcome.state == RunState::KillFailed && outcome.reason != model::Reason::CleanupFailed;
}

}  // namespace

void AttemptTable::begin_life(const model::WorkerKey& life) {
  life_ = life;
  burials_.clear();
  buried_.clear();
  refused_.clear();
}

bool AttemptTable::raise_epoch(Epoch epoch) {
  if (epoch <= highest_epoch_) return false;
  highest_epoch_ = epoch;
  return true;
}

Refusal AttemptTable::check(const Envelope& envelope) const {
  if (envelope.epoch < highest_epoch_) return Refusal::OldEpoch;
  if (envelope.to != life_) return Refusal::WrongLife;
  return Refusal::None;
}

AttemptTable::Verdict AttemptTable::accept(const Envelope& envelope, model::AttemptKey key,
                                           const VoucherRules& vouchers, MonoTime now,
                                           const model::Demand& demand) {
  if (const Refusal refusal = check(envelope); refusal != Refusal::None) return {refusal};
  if (entries_.contains(key)) return {};
  expire(now);
  if (buried_.contains(key)) return {Refusal::Tombstoned};
  if (const auto before = refused_.find(key); before != refused_.end()) return {before->second};
  if (draining_) return {refuse(key, Refusal::Draining)};
  if (!vouchers.is_vouched(now)) return {refuse(key, Refusal::NoVoucher)};
  const bool has_room = demand.is_plain() ? free_slots() > 0 : lacking(demand).empty();
  if (full_ || !has_room) return {refuse(key, Refusal::NoSlot)};
  raise_epoch(envelope.epoch);
  entries_.emplace(key, TableEntry{key, life_, TableEntry::State::Accepted, {}, {}, demand});
  ++busy_;
  take(demand, 1);
  return {Refusal::None, true};
}

bool AttemptTable::started(model::AttemptKey key, WallTime when) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state != TableEntry::State::Accepted) return false;
  found->second.state = TableEntry::State::Running;
  found->second.started = when;
  return true;
}

bool AttemptTable::withdraw(model::AttemptKey key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state != TableEntry::State::Accepted) return false;
  take(found->second.demand, -1);
  entries_.erase(found);
  --busy_;
  refuse(key, Refusal::NoSlot);
  return true;
}

/// Keys grow with time, so the smallest are the oldest.
Refusal AttemptTable::refuse(model::AttemptKey key, Refusal refusal) {
  refused_[key] = refusal;
  if (refused_.size() > limits_.tombstones) refused_.erase(refused_.begin());
  return refusal;
}

bool AttemptTable::finished(model::AttemptKey key, const model::Outcome& outcome) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state == TableEntry::State::Finished) return false;
  found->second.state = TableEntry::State::Finished;
  found->second.outcome = outcome;
  --busy_;
  if (!may_live(outcome)) take(found->second.demand, -1);
  return true;
}

bool AttemptTable::acknowledged(model::AttemptKey key, MonoTime now) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state != TableEntry::State::Finished) return false;
  entries_.erase(found);
  bury(key, now);
  return true;
}

void AttemptTable::bury(model::AttemptKey key, MonoTime now) {
  if (buried_.insert(key).second) burials_.emplace_back(now, key);
  expire(now);
}

void AttemptTable::expire(MonoTime now) {
  while (!burials_.empty() && (burials_.size() > limits_.tombstones ||
                               burials_.front().first + limits_.tombstone_age <= now)) {
    buried_.erase(burials_.front().second);
    burials_.pop_front();
  }
}

bool AttemptTable::adopt(const TableEntry& entry) {
  if (!entries_.emplace(entry.key, entry).second) return false;
  const bool is_over = entry.state == TableEntry::State::Finished;
  if (!is_over) ++busy_;
  if (!is_over || may_live(entry.outcome)) take(entry.demand, 1);
  return true;
}

void AttemptTable::set_demand(model::AttemptKey key, const model::Demand& demand) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  TableEntry& entry = found->second;
  if (entry.state != TableEntry::State::Finished || may_live(entry.outcome)) {
    take(entry.demand, -1);
    take(demand, 1);
  }
  entry.demand = demand;
}

void AttemptTable::take(const model::Demand& demand, std::int32_t by) {
  used_slots_ += by * demand.slots;
  if (!demand.needs.empty()) model::add_amounts(used_, demand.needs, by);
}

std::string AttemptTable::lacking(const model::Demand& demand) const {
  if (free_slots() < demand.slots) {
    return fmt::format("slots: {} needed, {} free", demand.slots, free_slots());
  }
  for (const auto& [name, amount] : demand.needs) {
    if (free_of(name) >= amount) continue;
    return fmt::format("{}: {} needed, {} free", name, format_size(amount), format_size(free_of(name)));
  }
  return {};
}

const TableEntry* AttemptTable::find(model::AttemptKey key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

model::Inventory AttemptTable::inventory() const {
  using State = model::HeldAttempt::State;
  model::Inventory all;
  all.worker = life_;
  all.highest_epoch = highest_epoch_;
  for (const auto& [key, entry] : entries_) {
    const bool ended = entry.state == TableEntry::State::Finished;
    all.attempts.push_back(
        {key, ended ? State::Finished : State::Running, entry.started, entry.outcome});
  }
  const std::size_t told = std::min(burials_.size(), limits_.told_tombstones);
  for (auto at = burials_.end() - static_cast<std::ptrdiff_t>(told); at != burials_.end(); ++at) {
    all.attempts.push_back({at->second, State::Tombstone, {}, {}});
  }
  return all;
}

}  // namespace rota::worker::desk
