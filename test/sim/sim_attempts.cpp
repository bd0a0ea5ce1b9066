// What a simulated worker does with attempts: accepts, starts, ends and reports them.
#include "limit_judge.h"
#include "retry_judge.h"
#include "route_judge.h"
#include "sim_worker.h"
#include "overlap_judge.h"
#include "semaphore_judge.h"
#include "world.h"

namespace rota::sim {

using model::Refusal;
using model::RunState;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using master::core::DispatchVerdict;

namespace {
constexpr int kMostHellos = 50;  // in a second
}

void SimWorker::hear_of(Epoch epoch) {
  told_ = std::max(told_, epoch);
  epoch_on_disk_ = std::max(epoch_on_disk_, epoch);
}

// --- what the leader asks

std::optional<model::Inventory> SimWorker::hello(Epoch epoch, std::size_t master,
                                                 const model::WorkerKey& to) {
  if (!proper_up_ || to != key_) return std::nullopt;
  if (world_.now() - hellos_since_ > 1s) {
    hellos_since_ = world_.now();
    hellos_ = 0;
  }
  if (++hellos_ > kMostHellos) world_.violate("a worker is greeted over and over");
  if (epoch >= table_->highest_epoch()) {
    hear_of(epoch);
    table_->raise_epoch(epoch);
    leader_ = master;
    vouchers_.greet();
    look_at_vouchers();
  }
  if (world_.store.tables().starts.contains(start_key())) world_.marks.hit("start_met_again");
  world_.trace("hello", key_.id + "@" + key_.incarnation + " holds " + std::to_string(table_->entries().size()));
  model::Inventory held = table_->inventory();
  held.drain = model::DrainAck{draining_ || drain_told_, drain_told_, drain_order_};
  return held;
}

void SimWorker::note(Refusal refusal, bool is_new) {
  if (refusal != Refusal::None) ++refusals_;
  if (refusal == Refusal::OldEpoch) world_.marks.hit("old_epoch_refused");
  if (refusal == Refusal::WrongLife) world_.marks.hit("wrong_life_refused");
  if (refusal == Refusal::NoSlot) world_.marks.hit("no_slot_refused");
  if (refusal == Refusal::NoVoucher) world_.marks.hit("no_voucher_refused");
  if (refusal == Refusal::Draining) world_.marks.hit("draining_refused");
  if (refusal == Refusal::Tombstoned) world_.marks.hit("tombstone_refused");
  if (refusal == Refusal::None && !is_new) world_.marks.hit("attempt_taken_twice");
}

std::optional<std::vector<DispatchVerdict>> SimWorker::dispatch(Epoch epoch,
                                                        const master::core::SendDispatch& message) {
  if (!proper_up_) return std::nullopt;
  std::vector<DispatchVerdict> verdicts;
  for (const master::core::DispatchItem& item : message.items) {
    const bool is_unfit = table_->check({epoch, message.worker}) == Refusal::None &&
                          table_->find(item.attempt) == nullptr && is_cleaning_up(item.attempt.run);
    if (is_unfit) table_->refuse(item.attempt, Refusal::NoSlot);
    const auto [refusal, is_new] =
        table_->accept({epoch, message.worker}, item.attempt, vouchers_, clock_.mono(), item.demand);
    note(refusal, is_new);
    if (refusal == Refusal::NoSlot && !item.demand.is_plain()) world_.marks.hit("wide_run_refused");
    if (is_new) {
      if (message.worker != key_) world_.violate("P8: an attempt starts that was sent to another life");
      start(epoch, item);
    }
    epoch_on_disk_ = std::max(epoch_on_disk_, table_->highest_epoch());
    const bool accepted = refusal == Refusal::None;
    verdicts.push_back({item.attempt, accepted ? DispatchVerdict::Kind::Accepted : DispatchVerdict::Kind::Refused, refusal, {}});
  }
  return verdicts;
}

Refusal SimWorker::cancel(Epoch epoch, const master::core::SendCancel& message) {
  if (!proper_up_) return Refusal::None;
  if (const Refusal why = table_->check({epoch, message.worker}); why != Refusal::None) return why;
  if (epoch < told_) world_.violate("P8: a deposed leader's cancel is obeyed");
  for (const model::AttemptKey key : message.attempts) {
    const auto found = processes_.find(key);
    if (found == processes_.end() || found->second.is_cleaning) continue;
    model::Outcome outcome;
    outcome.state = RunState::Killed;
    outcome.reason = model::Reason::CancelledByUser;
    outcome.started = found->second.started;
    Millis takes = world_.random.between(1ms, 50ms);
    if (world_.random.chance(20)) {
      world_.marks.hit("job_refused_to_die");
      takes = message.grace + world_.random.between(1ms, 50ms);
    }
    if (world_.random.chance(world_.unproven_percent)) {
      world_.marks.hit("kill_not_proven");
      lost_slots_ = true;
      outcome.state = RunState::KillFailed;
      outcome.reason = model::Reason::KillUnproven;
    }
    world_.after(takes, [this, key, serial = found->second.serial, outcome] {
      end_process(key, serial, outcome);
    });
  }
  return Refusal::None;
}

// --- attempts

void SimWorker::start(Epoch epoch, const master::core::DispatchItem& item) {
  if (epoch < told_) world_.violate("P8: a deposed leader's attempt starts");
  const auto definition = world_.store.definition(item.job, item.version);
  const bool one_off = item.kind == model::RunKind::OneOff;
  Truth::Start begun;
  begun.key = item.attempt;
  begun.job = item.job;
  begun.worker = index_;
  begun.at = world_.now();
  const auto row = world_.store.runs().find(item.attempt.run);
  const bool is_of_start = item.kind == model::RunKind::WorkerStart && row != world_.store.runs().end();
  if (is_of_start && model::start_in(row->second.request_key) != start_key()) {
    world_.violate("P38: a run of another start begins on " + id_ + ", run " + std::to_string(item.attempt.run.value));
  }
  if (definition != nullptr) {
    begun.loss = definition->rules.loss;
    begun.loss_most = definition->rules.loss_most;
  }
  if (is_cleaning_up(item.attempt.run)) {
    world_.violate("an attempt starts beside a cleanup of its run, " + std::to_string(item.attempt.run.value));
  }
  if (definition != nullptr) world_.violate(judge_route(definition->rules, definition->work.handler, info()));
  if (definition != nullptr) world_.violate(world_.routes.judge(*definition, item, index_));
  const bool is_known = definition != nullptr && !world_.store.went_back();  // else a version may say something else
  if (is_known && row != world_.store.runs().end()) {
    // A new leader finds what was in force by the moment of the dispatch: where clocks go back, it may be another.
    const auto since = world_.clocks_tell()
                           ? world_.store.amount_when_sent(item.attempt, {kSpaceTokens, row->second.space})
                           : 0;
    const auto defaults = defaults_since(world_.store.tables(), row->second.space, since);
    world_.violate(judge_limit(definition->rules, defaults, item.timeout));
  }
  if (definition != nullptr && definition->work.handler != "command") world_.marks.hit("started_by_handler");
  if (definition != nullptr && !one_off) begun.at_once = at_once(definition->rules);
  taken_[item.attempt] = begun.demand = item.demand;
  begun.slots = slots_;
  begun.offers = offers_;
  if (definition != nullptr && item.demand != model::Demand{definition->rules.slots, definition->rules.needs}) {
    world_.violate("P48: run " + std::to_string(item.attempt.run.value) + " is sent with other needs than its job's");
  }
  if (row != world_.store.runs().end()) begun.uses = tokens_of(world_.store.tables(), row->second);
  world_.violate(world_.truth.begin(begun));
  const std::int64_t serial = ++serials_;
  processes_[item.attempt] = {serial, clock_.wall(), item.disconnect_grace, key_};
  if (definition != nullptr && !definition->work.cleanup.empty()) {
    processes_[item.attempt].has_cleanup = true;
    owed_[item.attempt] = key_;
  }
  table_->started(item.attempt, clock_.wall());
  report_start(item.attempt);
  world_.trace("start", id_ + " " + std::to_string(item.attempt.run.value) + "/" + std::to_string(item.attempt.attempt));
  model::Outcome outcome;
  const bool is_bad = index_ == 0 && world_.has_bad_worker();
  outcome.state = world_.random.chance(80) && !is_bad ? RunState::Succeeded : RunState::Failed;
  if (outcome.state == RunState::Failed) outcome.exit_status = exit_status_of(item.attempt);
  outcome.started = clock_.wall();
  Millis lasts = world_.random.chance(70) ? world_.random.between(5ms, 800ms) : world_.random.between(1000ms, 15'000ms);
  if (world_.random.chance(1)) lasts = world_.random.between(15'000ms, 30'000ms);
  if (item.timeout > 0ms && lasts > item.timeout) {
    lasts = item.timeout;
    outcome.state = RunState::TimedOut;
    outcome.reason = model::Reason::AttemptTimeout;
    if (world_.random.chance(20)) {
      world_.marks.hit("job_refused_to_die");
      lasts += item.kill_grace;
    }
  }
  world_.after(lasts, [this, key = item.attempt, serial, outcome] { end_process(key, serial, outcome); });
}

void SimWorker::end_process(model::AttemptKey key, std::int64_t serial, model::Outcome outcome) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || found->second.serial != serial) return;
  if (stands_still()) {
    world_.after(left_of_stillness(), [this, key, serial, outcome] { end_process(key, serial, outcome); });
    return;
  }
  if (found->second.is_cleaning) return;
  const model::WorkerKey life = found->second.life;
  outcome.stood_still = found->second.stood_still;
  outcome.ended = clock_.wall();
  if (begin_cleanup(key, found->second, outcome)) return;
  processes_.erase(found);
  world_.violate(world_.truth.end(key, world_.now()));
  tell_end(key, life, std::move(outcome));
}

void SimWorker::tell_end(model::AttemptKey key, const model::WorkerKey& life, model::Outcome outcome) {
  world_.routes.note_end(index_);
  world_.trace("end", id_ + " " + std::to_string(key.run.value) + " " + std::string(name_of(outcome.state)));
  untold_[key] = {key, life, model::AttemptReport::What::Finished, outcome.started, outcome, {}};
  if (proper_up_) write_outcomes(starts_);
}

void SimWorker::kill_all_silently() {
  for (const auto& [key, process] : processes_) world_.truth.forget(key);
  processes_.clear();
  untold_.clear();
}

// --- the outbox

/// The warden reported it: it counts as finished only once it is synced.
void SimWorker::write_outcomes(std::int64_t start) {
  if (start != starts_ || !proper_up_ || writing_ || untold_.empty()) return;
  if (world_.now() < frozen_until_ || full_) {
    world_.after(500ms, [this, start] { write_outcomes(start); });
    return;
  }
  writing_ = true;
  std::vector<model::AttemptReport> batch;
  for (const auto& [key, report] : untold_) {
    disk_.write(report);
    batch.push_back(report);
  }
  const Millis takes = world_.random.chance(95) ? world_.random.between(0ms, 4ms) : world_.random.between(10ms, 800ms);
  world_.after(takes, [this, start, batch = std::move(batch)] {
    if (start != starts_ || !proper_up_) return;
    disk_.sync();
    writing_ = false;
    for (const model::AttemptReport& report : batch) {
      untold_.erase(report.key);
      owed_.erase(report.key);
      outbox_[report.key] = report;
      world_.truth.note_outcome(report.key, report.outcome.state);
      table_->finished(report.key, report.outcome);
    }
    write_outcomes(start);
  });
}

/// Reads what an earlier life of the proper left on the disk. Only a flipped bit can have destroyed something.
void SimWorker::read_outbox() {
  const auto kept = disk_.read();
  if (disk_.altered()) world_.violate("P12: an outcome is read that was never written");
  for (const auto& [key, report] : outbox_) {
    if (kept.contains(key)) continue;
    if (!bit_flipped_) world_.violate("P12: a synced outcome is gone from the outbox");
    world_.marks.hit("outcome_damaged");
    world_.truth.forget_outcome(key);
  }
  outbox_ = kept;
  for (const auto& [key, report] : outbox_) {
    world_.truth.note_outcome(key, report.outcome.state);
    untold_.erase(key);
    owed_.erase(key);
  }
}

bool SimWorker::flip_bit(Random& dice) {
  const bool flipped = disk_.flip(dice);
  bit_flipped_ = bit_flipped_ || flipped;
  return flipped;
}

// --- reports

/// Reports a start once the attempt has run a while, and never again.
void SimWorker::report_start(model::AttemptKey key) {
  world_.after(1000ms, [this, key, life = life_] {
    const auto found = processes_.find(key);
    if (found == processes_.end() || !acts(life) || !leader_) return;
    const model::AttemptReport line{key, found->second.life, model::AttemptReport::What::Started,
                                    found->second.started, {}, model::RunNote{}};
    world_.to_leader(
        index_, *leader_,
        [this, line](Token token) -> master::core::Event { return master::core::Reported{token, key_, {line}}; },
        [this](const master::core::ReplyBody&) { world_.marks.hit("start_reported"); });
  });
}

void SimWorker::report(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(world_.random.between(50ms, 300ms), [this, life] { report(life); });
  if (acts(life) && leader_ && !outbox_.empty()) send_reports();
}

void SimWorker::send_reports() {
  std::vector<model::AttemptReport> lines;
  for (const auto& [key, kept] : outbox_) {
    lines.push_back(kept);
    if (key.run.value % 3 == 0) lines.back().note = model::RunNote{};  // its last note
    if (lines.size() >= world_.limits.reports_per_call) break;
  }
  if (world_.message_lost("fault_report_lost")) return;
  const std::int64_t life = life_;
  world_.to_leader(
      index_, *leader_,
      [this, lines](Token token) -> master::core::Event { return master::core::Reported{token, key_, lines}; },
      [this, life](const master::core::ReplyBody& body) {
        const auto* taken = std::get_if<master::core::ReportsTaken>(&body);
        if (taken == nullptr || !acts(life)) return;
        if (world_.message_lost("fault_acknowledgement_lost")) return;
        for (const model::AttemptKey key : taken->taken) {
          table_->acknowledged(key, clock_.mono());
          if (outbox_.erase(key) != 0) disk_.forget(key);
        }
      });
}

}  // namespace rota::sim
