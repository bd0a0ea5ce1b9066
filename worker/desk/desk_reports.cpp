// What becomes of the attempts at the desk: the runner's events, and the way of the reports.
#include <utility>

#include "worker/desk/attempt_desk.h"

namespace rota::worker::desk {

using model::AttemptReport;

Result<void> AttemptDesk::open(const std::vector<AttemptReport>& unreported) {
  std::set<model::AttemptKey> keys;
  {
    std::scoped_lock lock(mutex_);
    for (const AttemptReport& report : unreported) {
      keys.insert(report.key);
      table_.adopt({report.key, report.worker, TableEntry::State::Finished, report.outcome.started,
                    report.outcome, {}});
    }
  }
  return parts_.runner.open(*this, keys);
}

// --- the runner's events

bool AttemptDesk::adopted(const Adopted& attempt) {
  std::scoped_lock lock(mutex_);
  const auto running = TableEntry::State::Running;
  if (!table_.adopt({attempt.key, attempt.life, running, attempt.started, {}, attempt.demand})) {
    table_.set_demand(attempt.key, attempt.demand);
    return false;
  }
  if (attempt.disconnect_grace > Millis{0}) disconnect_graces_[attempt.key] = attempt.disconnect_grace;
  ++counts_.adopted;
  return true;
}

void AttemptDesk::started(model::AttemptKey key, const model::WorkerKey& life, WallTime when) {
  std::optional<EarlyEnd> end;
  {
    std::scoped_lock lock(mutex_);
    table_.started(key, when);
    if (const auto found = early_ends_.find(key); found != early_ends_.end()) {
      end = found->second;
      early_ends_.erase(found);
    }
  }
  if (end) parts_.runner.end(key, end->why, end->grace);
  parts_.sink.started({key, life, AttemptReport::What::Started, when, {}});
}

/// Passed on while the attempt is held.
void AttemptDesk::said(model::RunNote note) {
  AttemptReport report{{note.run, note.attempt}, {}, AttemptReport::What::Started, {}, {}, {}};
  {
    std::scoped_lock lock(mutex_);
    const TableEntry* entry = table_.find(report.key);
    if (entry == nullptr) return;
    report.worker = entry->life;
    report.started = entry->started;
  }
  report.note = std::move(note);
  parts_.sink.noted(std::move(report));
}

/// The table hears of it once the outcome is written: until then a crash of this process would forget it,
/// and the next start hears of the attempt again from the runner.
void AttemptDesk::ended(model::AttemptKey key, const model::WorkerKey& life, model::Outcome outcome) {
  const WallTime started = outcome.started;
  parts_.sink.finished({key, life, AttemptReport::What::Finished, started, std::move(outcome)});
}

void AttemptDesk::vouchers_unguarded(MonoTime now) {
  std::vector<model::AttemptKey> lapsed;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, entry] : table_.entries()) {
      if (entry.state == TableEntry::State::Finished) continue;
      const auto grace = disconnect_graces_.find(key);
      const Millis longer = grace == disconnect_graces_.end() ? Millis{0} : grace->second;
      if (now >= vouchers_.vouched_until() + longer) lapsed.push_back(key);
    }
  }
  for (const model::AttemptKey& key : lapsed) parts_.runner.end(key, EndReason::Unvouched, Millis{0});
}

// --- the way of the reports

void AttemptDesk::stored(const std::vector<AttemptReport>& reports) {
  std::vector<model::AttemptKey> keys;
  keys.reserve(reports.size());
  {
    std::scoped_lock lock(mutex_);
    for (const AttemptReport& report : reports) {
      keys.push_back(report.key);
      table_.finished(report.key, report.outcome);
      forget_locked(report.key);
      ++counts_.finished;
      ++counts_.ended[report.outcome.state];
    }
  }
  parts_.runner.outcomes_stored(keys);
}

void AttemptDesk::acknowledged(const std::vector<model::AttemptKey>& keys) {
  const MonoTime now = parts_.clock.mono();
  {
    std::scoped_lock lock(mutex_);
    for (const model::AttemptKey& key : keys) table_.acknowledged(key, now);
  }
  parts_.runner.outcomes_acknowledged(keys);
}

// --- figures

std::int32_t AttemptDesk::busy() const {
  std::scoped_lock lock(mutex_);
  return table_.busy();
}

std::int32_t AttemptDesk::used_slots() const {
  std::scoped_lock lock(mutex_);
  return table_.used_slots();
}

DeskCounts AttemptDesk::counts() const {
  std::scoped_lock lock(mutex_);
  return counts_;
}

}  // namespace rota::worker::desk
