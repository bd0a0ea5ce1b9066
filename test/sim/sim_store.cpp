#include "sim_store.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace rota::sim {

using master::core::Changes;
using master::store::ApplyOutcome;
using master::store::ApplyResult;
using model::Reason;
using model::RunState;

namespace {

constexpr Millis kIdleTransaction{2000};

std::string text(std::int64_t n) { return std::to_string(n); }

}  // namespace

ApplyResult SimStore::apply(Epoch epoch, const Changes& changes) {
  latency = random_.between(Millis{0}, Millis{2});
  caller_freezes = Millis{0};
  if (faults.down) return {ApplyOutcome::Failed, "down", {}};
  if (random_.per_mille(faults.slow_per_mille)) {
    marks_.hit("fault_apply_slow");
    latency = random_.between(Millis{20}, Millis{1500});
  }
  if (random_.per_mille(faults.failed_per_mille)) {
    marks_.hit("fault_apply_failed");
    return {ApplyOutcome::Failed, "told to fail", {}};
  }
  const auto seen = stored_.find(epoch);
  const bool lacks = seen != stored_.end() && (!tables_.watermark || *tables_.watermark < seen->second);
  if (tables_.epoch <= epoch && lacks) {  // as production asks behind each new connection
    return {ApplyOutcome::Failed, "the database lacks what this leader stored", {}, true, true};
  }
  if (epoch != tables_.epoch) return {ApplyOutcome::Fenced, "another epoch", tables_.epoch};
  if (faults.freezes_caller > Millis{0}) {  // its transaction is ended by the database
    caller_freezes = std::exchange(faults.freezes_caller, Millis{0});
    locked_until_ = clockwork_.now() + std::min(caller_freezes, kIdleTransaction);
    return {ApplyOutcome::Failed, "the transaction was ended", {}};
  }
  if (std::string why = contradiction(changes); !why.empty()) {
    if (!went_back_) complain(why);
    return {ApplyOutcome::Failed, why, {}, true};
  }
  faults.down = std::exchange(faults.dies_at_commit, false);
  const bool lost = faults.down || random_.per_mille(faults.unknown_per_mille);
  if (lost && random_.chance(50)) {
    marks_.hit("fault_apply_unknown_not_applied");
    return {ApplyOutcome::Unknown, "answer lost, not applied", {}};
  }
  write(changes);
  if (!lost) {
    if (changes.watermark) stored_[epoch] = *changes.watermark;
    return {ApplyOutcome::Applied, "", {}};
  }
  marks_.hit("fault_apply_unknown_applied");
  return {ApplyOutcome::Unknown, "answer lost, applied", {}};
}

bool SimStore::take_office(Epoch epoch) {
  if (epoch <= tables_.epoch) return false;
  if (epoch <= highest_ever_) complain("P9: epoch " + text(epoch.value) + " is taken again");
  highest_ever_ = std::max(highest_ever_, epoch);
  tables_.epoch = epoch;
  return true;
}

bool SimStore::go_back(const master::StoredMark& noted) {
  if (!backup_ || backup_->epoch == Epoch{}) return false;
  const master::StoredMark copied{backup_->epoch, backup_->watermark};
  if (copied >= master::StoredMark{tables_.epoch, tables_.watermark}) return false;
  for (const auto& [id, run] : tables_.runs) {
    const auto kept = backup_->runs.find(id);
    const bool same = kept != backup_->runs.end() &&
                      kept->second.progress.state == run.progress.state &&
                      kept->second.progress.attempt == run.progress.attempt;
    if (same && model::is_final(run.progress.state)) continue;
    tainted_runs_.insert(id);
    tainted_jobs_.insert(run.job);
  }
  for (const auto& [key, attempt] : tables_.attempts) {
    if (!backup_->attempts.contains(key)) tainted_runs_.insert(key.first);
  }
  tables_ = *std::exchange(backup_, std::nullopt);
  judge_.forget_versions();
  went_back_ = is_unnoticed_ = true;
  must_notice_ = noted > copied;
  return true;
}

/// Until then an older leader may have written on: its epoch is the one in force again.
void SimStore::note_takeover(bool noticed) {
  if (noticed) held_by_restore_ = true;
  if (!std::exchange(is_unnoticed_, false) || noticed) return;
  if (must_notice_) complain("P9: a database that lost what ZooKeeper knew of is not noticed");
  marks_.hit("loss_too_small_to_notice");
}

std::unique_ptr<master::store::MemoryStore> SimStore::as_memory_store() const {
  auto store = std::make_unique<master::store::MemoryStore>();
  Changes all;
  for (const auto& [id, job] : tables_.jobs) all.jobs.push_back(job);
  for (const auto& [key, version] : tables_.versions) all.versions.push_back(version);
  for (const auto& [id, run] : tables_.runs) all.new_runs.push_back(run);
  for (const auto& [key, attempt] : tables_.attempts) all.attempts.push_back(attempt);
  for (const auto& [key, gap] : tables_.gaps) all.gaps.push_back(gap);
  for (const auto& [key, life] : tables_.lives) all.lives.push_back(life);
  for (const auto& [id, note] : tables_.notes) all.notes.push_back(note);
  for (const auto& [id, drain] : tables_.drains) all.drains.push_back(drain);
  all.watermark = tables_.watermark;
  CHECK_OR_DIE(store->take_office(tables_.epoch, "sim").has_value(), "a new store has an epoch");
  const ApplyResult applied = store->apply(tables_.epoch, all);
  CHECK_OR_DIE(applied.outcome == ApplyOutcome::Applied, applied.detail.c_str());
  return store;
}

/// What a unique key or a missing row would refuse; the same rows again are fine.
std::string SimStore::contradiction(const Changes& changes) const {
  for (const model::Run& run : changes.new_runs) {
    if (tables_.runs.contains(run.id)) continue;
    if (run.tick && tables_.ticks.contains({run.job, *run.tick})) {
      return "P1: two runs of one tick, run " + text(run.id.value);
    }
    if (!run.request_key.empty() && tables_.keys.contains({run.principal, run.request_key})) {
      return "P11: two runs of one request key, run " + text(run.id.value);
    }
  }
  for (const master::core::RunUpdate& update : changes.updated_runs) {
    if (tables_.runs.contains(update.id)) continue;
    const bool comes = std::ranges::any_of(changes.new_runs, [&](const auto& r) { return r.id == update.id; });
    if (!comes) return "an update of a run that is not stored, run " + text(update.id.value);
  }
  return "";
}

void SimStore::write(const Changes& changes) {
  for (const model::Job& job : changes.jobs) tables_.jobs[job.id] = job;
  write_versions(changes);
  write_gaps(changes);
  // What a batch resumes may get attempts in the same batch; what it drains got none after that.
  for (const model::WorkerDrain& drain : changes.drains) {
    if (!drain.draining) tables_.drains[drain.worker] = drain;
  }
  write_runs(changes);
  for (const model::WorkerDrain& drain : changes.drains) tables_.drains[drain.worker] = drain;
  for (const model::AttemptRow& row : changes.attempts) {
    const auto [at, added] = tables_.attempts.insert_or_assign({row.run, row.attempt}, row);
    if (added && !row.late) marks_.hit("run_retried");
    if (added && !row.late && row.outcome.state == RunState::Lost &&
        row.outcome.reason != Reason::HandedOver) {
      ++lost_attempts_;
    }
    if (row.late) marks_.hit("result_late");
    if (added && row.outcome.reason == Reason::HandedOver) marks_.hit("attempt_handed_over");
  }
  for (const auto& life : changes.lives) tables_.lives[life.key] = life;
  for (const model::RunNote& note : changes.notes) {
    model::RunNote& kept = tables_.notes[note.run];
    if (note.attempt < kept.attempt) complain("an older attempt's checkpoint replaced a newer one's");
    kept = note;
    marks_.hit("note_stored");
  }
  if (!changes.watermark) return;
  if (tables_.watermark && *changes.watermark < *tables_.watermark) complain("the watermark went back");
  tables_.watermark = changes.watermark;
  if (std::string wrong = judge_.judge_window(tables_); !wrong.empty()) complain(std::move(wrong));
}

void SimStore::write_gaps(const Changes& changes) {
  for (const model::Gap& gap : changes.gaps) {
    const auto [at, is_new] = tables_.gaps.emplace(std::tuple{gap.job, gap.version, gap.from}, gap);
    if (!is_new) {
      if (at->second.to != gap.to || at->second.count != gap.count) complain("P1: two gaps begin at one tick");
      continue;  // the batch is repeated
    }
    if (held_by_restore_) complain("P9: a gap is recorded while the restored database waits to be accepted");
    complain_if(judge_.judge_gap(tables_, gap));
    tables_.open_gaps.push_back({gap, 0});
    if (gap.reason == Reason::OverlapSkipped) marks_.hit("tick_overlap_skipped");
    if (gap.reason == Reason::QueueFull) marks_.hit("tick_queue_full");
    if (gap.reason == Reason::CoalescedInto) marks_.hit("tick_coalesced");
    if (gap.reason == Reason::LateSkipped) marks_.hit("tick_late_skipped");
  }
}

void SimStore::write_versions(const Changes& changes) {
  for (const model::JobVersionRow& row : changes.versions) {
    auto [at, added] = tables_.versions.try_emplace({row.job, row.version}, row);
    if (row.valid_to) at->second.valid_to = row.valid_to;
    if (added && !row.definition) {
      at->second.definition = tables_.versions.at({row.job, row.version - 1}).definition;
    }
    if (row.valid_to && *row.valid_to < row.valid_from) complain("a version ends before it begins");
  }
}

void SimStore::write_runs(const Changes& changes) {
  for (const model::Run& run : changes.new_runs) {
    if (!tables_.runs.emplace(run.id, run).second) continue;
    if (run.tick) {
      marks_.hit("tick_fired");
      if (held_by_restore_) complain("P9: a tick fires while the restored database waits to be accepted");
      complain_if(judge_.judge_run(tables_, run));
      tables_.ticks.emplace(std::pair{run.job, *run.tick}, run.id);
    }
    if (!run.request_key.empty()) tables_.keys.emplace(std::pair{run.principal, run.request_key}, run.id);
    if (run.progress.state == RunState::Skipped) marks_.hit("run_skipped");
    if (run.progress.reason == Reason::WaitsForRun) marks_.hit("run_waited_behind");
    note_dispatch(run);
  }
  for (const master::core::RunUpdate& update : changes.updated_runs) {
    model::Run& run = tables_.runs.at(update.id);
    count_ends(run.progress, update.progress);
    run.progress = update.progress;
    note_dispatch(run);
  }
}

void SimStore::count_ends(const model::RunProgress& before, const model::RunProgress& after) {
  if (before.cancel_asked && !after.cancel_asked) complain("P10: a cancel is forgotten");
  if (after.attempt < before.attempt) complain("an attempt's number went back");
  if (model::is_final(before.state)) {
    if (after.state != before.state) complain("a final run changed");
    return;
  }
  if (after.state == RunState::Lost) {
    marks_.hit("run_lost");
    ++lost_attempts_;
  }
  if (after.state == RunState::Killed) marks_.hit("run_killed");
  if (after.state == RunState::TimedOut) marks_.hit("run_timed_out");
  if (after.state == RunState::Cancelled) marks_.hit("run_cancelled_early");
}

void SimStore::note_dispatch(const model::Run& run) {
  if (run.progress.attempt == 0 || !dispatched_.insert({run.id, run.progress.attempt}).second) return;
  const auto drain = tables_.drains.find(run.progress.worker.id);
  if (drain != tables_.drains.end() && drain->second.draining) {
    complain("a drained worker got a new attempt, of run " + text(run.id.value));
  }
}

std::shared_ptr<const model::JobDefinition> SimStore::definition(JobId job, JobVersion version) const {
  const auto found = tables_.versions.find({job, version});
  return found == tables_.versions.end() ? nullptr : found->second.definition;
}

}  // namespace rota::sim
