#include "sim_worker.h"

#include <algorithm>

#include "common/zk/lease_rules.h"
#include "world.h"

namespace rota::sim {

using model::Refusal;
using model::RunState;
using std::chrono_literals::operator""ms;
using worker::run::AttemptTable;
using worker::run::TableEntry;
using Verdict = master::core::DispatchVerdict;

SimWorker::SimWorker(World& world, std::size_t index, std::int32_t slots)
    : world_(world), index_(index), id_("w" + std::to_string(index)), slots_(slots) {}

model::WorkerInfo SimWorker::info() const {
  model::WorkerInfo info;
  info.key = key_;
  info.address = {"sim", static_cast<std::uint16_t>(index_)};
  info.slots = slots_;
  info.draining = draining_ || drain_told_;
  info.drain_told = drain_told_;
  return info;
}

bool SimWorker::reaches_zookeeper() const {
  return host_up_ && world_.zookeeper.up && !cut_from_zookeeper;
}

// --- lives

void SimWorker::start_host() {
  if (host_up_) return;
  host_up_ = true;
  start_proper();
}

void SimWorker::start_proper() {
  proper_up_ = true;
  draining_ = drain_told_ = false;
  table_ = std::make_unique<AttemptTable>(worker::run::TableLimits{slots_});
  for (const auto& [key, process] : processes_) {
    table_->adopt({key, process.life, TableEntry::State::Running, process.started, {}});
  }
  for (const auto& [key, kept] : outbox_) {
    table_->adopt({key, kept.first, TableEntry::State::Finished, {}, kept.second});
  }
  begin_life();
}

/// A new incarnation: at a start of the proper, and with each new session.
void SimWorker::begin_life() {
  const std::int64_t life = ++life_;
  key_ = {id_, "i" + std::to_string(life)};
  registered_ = false;
  leader_.reset();
  table_->begin_life(key_);
  table_->raise_epoch(epoch_on_disk_);
  world_.trace("life", key_.id + "@" + key_.incarnation);
  world_.after(world_.random.between(1ms, 20ms), [this, life] { try_register(life); });
}

void SimWorker::try_register(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  if (!reaches_zookeeper()) {
    world_.after(200ms, [this, life] { try_register(life); });
    return;
  }
  world_.zookeeper.nodes[key_] = {info(), world_.now() + kWorkerSession};
  epoch_on_disk_ = std::max(epoch_on_disk_, world_.zookeeper.epoch);
  table_->raise_epoch(epoch_on_disk_);
  registered_ = true;
  vouchers_.extend_lease(zk::lease_end(world_.now(), {}));
  look_at_vouchers();
  world_.workers_changed();
  end_older_lives();
  world_.after(1000ms, [this, life] { beat(life); });
  world_.after(world_.random.between(1ms, 1000ms), [this, life] { renew(life); });
  world_.after(world_.random.between(1ms, 300ms), [this, life] { report(life); });
}

void SimWorker::end_older_lives() {
  for (const auto& [key, node] : world_.zookeeper.nodes) {
    if (key.id != id_ || key == key_) continue;
    if (world_.random.chance(15)) {  // its session file is lost: it expires by itself
      world_.marks.hit("fault_second_life_beside_the_first");
      continue;
    }
    world_.after(world_.random.between(4ms, 10ms), [this, older = key] {
      if (world_.zookeeper.up && world_.zookeeper.nodes.erase(older) > 0) world_.workers_changed();
    });
  }
}

void SimWorker::beat(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(1000ms, [this, life] { beat(life); });
  const MonoTime sent = world_.now();
  world_.after(world_.small_delay(), [this, life, sent] {
    if (life != life_ || !reaches_zookeeper()) return;
    const auto node = world_.zookeeper.nodes.find(key_);
    if (node == world_.zookeeper.nodes.end()) {
      begin_life();  // the session has expired
      return;
    }
    node->second.expires = world_.now() + kWorkerSession;
    world_.after(world_.small_delay(), [this, life, sent] {
      if (life != life_ || !reaches_zookeeper()) return;
      vouchers_.extend_lease(zk::lease_end(sent, {}));
      look_at_vouchers();
    });
  });
}

// --- vouchers

void SimWorker::look_at_vouchers() {
  if (lapsed_ && vouchers_.is_vouched(world_.now())) {
    lapsed_ = false;
    if (runs_something()) world_.marks.hit("lived_on_disconnect_grace");
  }
  if (!vouchers_.is_vouched(world_.now())) return;
  const Millis left = std::chrono::ceil<Millis>(vouchers_.vouched_until() - world_.now());
  world_.after(left, [this] {
    if (host_up_ && !lapsed_ && !vouchers_.is_vouched(world_.now())) lapse();
  });
}

/// Nobody vouches any more: what has no grace is killed at once, and the proper with it.
void SimWorker::lapse() {
  lapsed_ = true;
  world_.trace("lapse", id_);
  for (const auto& [key, process] : processes_) {
    const Millis kill_takes = world_.random.between(0ms, 40ms);
    world_.after(process.disconnect_grace + kill_takes, [this, key = key, serial = process.serial] {
      kill_unvouched(key, serial);
    });
  }
  world_.after(world_.random.between(0ms, 300ms), [this, life = life_] {
    if (life == life_) crash_proper();
  });
}

void SimWorker::kill_unvouched(model::AttemptKey key, std::int64_t serial) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || found->second.serial != serial) return;
  if (found->second.disconnect_grace > 0ms && vouchers_.is_vouched(world_.now())) return;
  world_.marks.hit("killed_without_voucher");
  model::Outcome outcome;
  outcome.state = RunState::Lost;
  outcome.reason = model::Reason::WorkerLost;
  end_process(key, serial, outcome);
}

void SimWorker::renew(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(1000ms, [this, life] { renew(life); });
  if (world_.now() >= vouchers_.lease_end() && vouchers_.is_vouched(world_.now()) && runs_something()) {
    world_.marks.hit("lived_on_the_leaders_voucher");
  }
  if (leader_) send_renew();
}

void SimWorker::send_renew() {
  const MonoTime sent = world_.now();
  const std::int64_t life = life_;
  world_.to_leader(index_, *leader_, [this, life, sent](Token token, bool) -> master::core::Event {
    world_.expect(token, [this, life, sent](const master::core::ReplyBody& body) {
      if (life != life_) return;
      const bool granted = std::holds_alternative<master::core::Renewed>(body);
      world_.marks.hit(granted ? "renewed" : "renew_refused");
      if (!granted) return;
      vouchers_.extend_grant(sent, 5000ms);
      look_at_vouchers();
    });
    return master::core::RenewAsked{token, key_};
  });
}

// --- reports

void SimWorker::report(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(world_.random.between(50ms, 300ms), [this, life] { report(life); });
  if (leader_ && !outbox_.empty()) send_reports();
}

void SimWorker::send_reports() {
  std::vector<model::AttemptReport> lines;
  for (const auto& [key, kept] : outbox_) {
    lines.push_back({key, kept.first, model::AttemptReport::What::Finished, kept.second.started, kept.second});
    if (key.run.value % 3 == 0) lines.back().note = model::RunNote{};  // its last words
  }
  if (world_.message_lost("fault_report_lost")) return;
  const std::int64_t life = life_;
  world_.to_leader(index_, *leader_, [this, life, lines](Token token, bool) -> master::core::Event {
    world_.expect(token, [this, life](const master::core::ReplyBody& body) {
      const auto* taken = std::get_if<master::core::ReportsTaken>(&body);
      if (taken == nullptr || life != life_ || !proper_up_) return;
      if (world_.message_lost("fault_acknowledgement_lost")) return;
      for (const model::AttemptKey key : taken->taken) {
        table_->acknowledged(key, world_.now());
        outbox_.erase(key);
      }
    });
    return master::core::Reported{token, key_, lines};
  });
}

// --- what the leader asks

std::optional<model::Inventory> SimWorker::hello(Epoch epoch, std::size_t master,
                                                 const model::WorkerKey& to) {
  if (!proper_up_ || to != key_) return std::nullopt;
  if (epoch >= table_->highest_epoch()) {
    table_->raise_epoch(epoch);
    epoch_on_disk_ = std::max(epoch_on_disk_, epoch);
    leader_ = master;
  }
  world_.trace("hello", key_.id + "@" + key_.incarnation + " holds " + std::to_string(table_->entries().size()));
  return table_->inventory();
}

Refusal SimWorker::note(Refusal refusal, bool is_new) {
  if (refusal == Refusal::OldEpoch) world_.marks.hit("old_epoch_refused");
  if (refusal == Refusal::WrongLife) world_.marks.hit("wrong_life_refused");
  if (refusal == Refusal::NoSlot) world_.marks.hit("no_slot_refused");
  if (refusal == Refusal::NoVoucher) world_.marks.hit("no_voucher_refused");
  if (refusal == Refusal::Draining) world_.marks.hit("draining_refused");
  if (refusal == Refusal::None && !is_new) world_.marks.hit("attempt_taken_twice");
  return refusal;
}

std::optional<std::vector<Verdict>> SimWorker::dispatch(Epoch epoch,
                                                        const master::core::SendDispatch& message) {
  if (!proper_up_) return std::nullopt;
  std::vector<Verdict> verdicts;
  for (const master::core::DispatchItem& item : message.items) {
    const auto [refusal, is_new] =
        table_->accept({epoch, message.worker}, item.attempt, vouchers_, world_.now());
    note(refusal, is_new);
    epoch_on_disk_ = std::max(epoch_on_disk_, table_->highest_epoch());
    if (is_new) start(item);
    const bool accepted = refusal == Refusal::None;
    verdicts.push_back({item.attempt, accepted ? Verdict::Kind::Accepted : Verdict::Kind::Refused, refusal, {}});
  }
  return verdicts;
}

void SimWorker::cancel(Epoch epoch, const master::core::SendCancel& message) {
  if (!proper_up_ || table_->check({epoch, message.worker}) != Refusal::None) return;
  for (const model::AttemptKey key : message.attempts) {
    const auto found = processes_.find(key);
    if (found == processes_.end()) continue;
    model::Outcome outcome;
    outcome.state = RunState::Killed;
    outcome.reason = model::Reason::CancelledByUser;
    if (world_.random.chance(5)) {
      world_.marks.hit("kill_not_proven");
      outcome.state = RunState::KillFailed;
      outcome.reason = model::Reason::KillUnproven;
    }
    world_.after(world_.random.between(1ms, 50ms), [this, key, serial = found->second.serial, outcome] {
      end_process(key, serial, outcome);
    });
  }
}

// --- attempts

void SimWorker::start(const master::core::DispatchItem& item) {
  const auto definition = world_.store.definition(item.job, item.version);
  const bool one_off = item.kind == model::RunKind::OneOff;
  world_.violate(world_.truth.begin(
      item.attempt, item.job, one_off ? model::Overlap::Allow : definition->rules.overlap));
  const std::int64_t serial = ++serials_;
  processes_[item.attempt] = {serial, world_.clockwork.true_wall(), item.disconnect_grace, key_};
  table_->started(item.attempt, world_.clockwork.true_wall());
  world_.trace("start", id_ + " " + std::to_string(item.attempt.run.value) + "/" + std::to_string(item.attempt.attempt));
  model::Outcome outcome;
  outcome.state = world_.random.chance(80) ? RunState::Succeeded : RunState::Failed;
  outcome.started = world_.clockwork.true_wall();
  Millis lasts = world_.random.chance(70) ? world_.random.between(5ms, 800ms) : world_.random.between(1000ms, 15'000ms);
  if (item.timeout > 0ms && lasts > item.timeout) {
    lasts = item.timeout;
    outcome.state = RunState::TimedOut;
    outcome.reason = model::Reason::AttemptTimeout;
  }
  world_.after(lasts, [this, key = item.attempt, serial, outcome] { end_process(key, serial, outcome); });
}

void SimWorker::end_process(model::AttemptKey key, std::int64_t serial, model::Outcome outcome) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || found->second.serial != serial) return;
  const model::WorkerKey life = found->second.life;
  processes_.erase(found);
  world_.truth.end(key);
  world_.truth.note_outcome(key, outcome.state);
  world_.trace("end", id_ + " " + std::to_string(key.run.value));
  outcome.ended = world_.clockwork.true_wall();
  outbox_[key] = {life, outcome};
  if (proper_up_) table_->finished(key, outcome);
}

void SimWorker::kill_all_silently() {
  for (const auto& [key, process] : processes_) world_.truth.end(key);
  processes_.clear();
}

// --- what happens to it

void SimWorker::crash_proper() {
  if (!proper_up_) return;
  proper_up_ = false;
  registered_ = false;
  leader_.reset();
  ++life_;
  world_.after(world_.random.between(4ms, 60ms), [this] {
    if (host_up_ && !proper_up_) start_proper();
  });
}

/// The warden dies: its attempts with it, proven. The watchdog starts the worker again.
void SimWorker::crash_warden() {
  kill_all_silently();
  vouchers_ = {};
  lapsed_ = false;
  crash_proper();
}

void SimWorker::lose_host(Millis for_long) {
  if (!host_up_) return;
  kill_all_silently();
  host_up_ = proper_up_ = registered_ = false;
  vouchers_ = {};
  lapsed_ = false;
  leader_.reset();
  ++life_;
  world_.after(for_long, [this] { start_host(); });
}

void SimWorker::set_draining(bool draining) {
  if (!proper_up_) return;
  draining_ = draining;
  tell_draining();
}

void SimWorker::drain(Epoch epoch, const master::core::SendDrain& message) {
  if (!proper_up_ || table_->check({epoch, message.worker}) != Refusal::None) return;
  world_.marks.hit(message.draining ? "drain_told" : "resume_told");
  drain_told_ = message.draining;
  tell_draining();
}

void SimWorker::tell_draining() {
  table_->set_draining(draining_ || drain_told_);
  const auto node = world_.zookeeper.nodes.find(key_);
  if (node == world_.zookeeper.nodes.end() || !reaches_zookeeper()) return;
  node->second.info = info();
  world_.workers_changed();
}

}  // namespace rota::sim
