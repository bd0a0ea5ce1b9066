#include "sim_store.h"

#include <algorithm>
#include <utility>

#include "master/core/definition_hash.h"
#include "master/core/schedule.h"

namespace rota::sim {

using master::core::Changes;
using master::store::ApplyOutcome;
using master::store::ApplyResult;
using model::Reason;
using model::RunState;

namespace {
std::string text(std::int64_t n) { return std::to_string(n); }
}  // namespace

ApplyResult SimStore::apply(Epoch epoch, const Changes& changes) {
  latency = random_.between(Millis{0}, Millis{2});
  if (faults.down) return {ApplyOutcome::Failed, "down", {}};
  if (random_.per_mille(faults.slow_per_mille)) {
    marks_.hit("fault_apply_slow");
    latency = random_.between(Millis{20}, Millis{1500});
  }
  if (random_.per_mille(faults.failed_per_mille)) {
    marks_.hit("fault_apply_failed");
    return {ApplyOutcome::Failed, "told to fail", {}};
  }
  if (epoch != epoch_) return {ApplyOutcome::Fenced, "another epoch", epoch_};
  faults.down = std::exchange(faults.dies_at_commit, false);
  const bool lost = faults.down || random_.per_mille(faults.unknown_per_mille);
  if (lost && random_.chance(50)) {
    marks_.hit("fault_apply_unknown_not_applied");
    return {ApplyOutcome::Unknown, "answer lost, not applied", {}};
  }
  write(changes);
  if (!lost) return {ApplyOutcome::Applied, "", {}};
  marks_.hit("fault_apply_unknown_applied");
  return {ApplyOutcome::Unknown, "answer lost, applied", {}};
}

bool SimStore::take_office(Epoch epoch) {
  if (epoch <= epoch_) return false;
  epoch_ = epoch;
  return true;
}

void SimStore::write(const Changes& changes) {
  for (const model::Job& job : changes.jobs) jobs_[job.id] = job;
  write_versions(changes);
  // What a batch resumes may get attempts in the same batch; what it drains got none after that.
  for (const model::WorkerDrain& drain : changes.drains) {
    if (!drain.draining) drains_[drain.worker] = drain;
  }
  write_runs(changes);
  for (const model::AttemptRow& row : changes.attempts) {
    const auto [at, added] = attempts_.insert_or_assign({row.run, row.attempt}, row);
    if (added && !row.late) marks_.hit("run_retried");
    if (row.late) marks_.hit("result_late");
    if (added && row.outcome.reason == Reason::HandedOver) marks_.hit("attempt_handed_over");
  }
  for (const model::RunNote& note : changes.notes) {
    AttemptNo& newest = notes_[note.run];
    if (note.attempt < newest) complain("an older attempt's checkpoint replaced a newer one's");
    newest = std::max(newest, note.attempt);
    marks_.hit("note_stored");
  }
  for (const model::Gap& gap : changes.gaps) {
    if (!gap_rows_.insert({gap.job, gap.from, gap.to}).second) continue;  // the batch is repeated
    gaps_.push_back(gap);
    if (gap.reason == Reason::OverlapSkipped) marks_.hit("tick_overlap_skipped");
    if (gap.reason == Reason::QueueFull) marks_.hit("tick_queue_full");
    if (gap.reason == Reason::CoalescedInto) marks_.hit("tick_coalesced");
    if (gap.reason == Reason::LateSkipped) marks_.hit("tick_late_skipped");
  }
  for (const model::WorkerDrain& drain : changes.drains) drains_[drain.worker] = drain;
  if (!changes.watermark) return;
  if (watermark_ && *changes.watermark < *watermark_) complain("the watermark went back");
  watermark_ = changes.watermark;
  if (std::string wrong = judge_ticks(); !wrong.empty()) complain(std::move(wrong));
}

void SimStore::write_versions(const Changes& changes) {
  for (const model::JobVersionRow& row : changes.versions) {
    auto [at, added] = versions_.try_emplace({row.job, row.version}, row);
    if (row.valid_to) at->second.valid_to = row.valid_to;
    if (added && !row.definition) {
      at->second.definition = versions_.at({row.job, row.version - 1}).definition;
    }
    if (row.valid_to && *row.valid_to < row.valid_from) complain("a version ends before it begins");
  }
}

void SimStore::write_runs(const Changes& changes) {
  for (const model::Run& run : changes.new_runs) {
    if (!runs_.emplace(run.id, run).second) continue;
    if (run.tick && !ticks_.emplace(std::pair{run.job, *run.tick}, run.id).second) {
      complain("P1: two runs of one tick, run " + text(run.id.value));
    }
    if (!run.request_key.empty() &&
        !keys_.emplace(std::pair{run.principal, run.request_key}, run.id).second) {
      complain("P11: two runs of one request key, run " + text(run.id.value));
    }
    if (run.tick) marks_.hit("tick_fired");
    if (run.progress.state == RunState::Skipped) marks_.hit("run_skipped");
    if (run.progress.reason == Reason::WaitsForRun) marks_.hit("run_waited_behind");
    note_dispatch(run);
  }
  for (const master::core::RunUpdate& update : changes.updated_runs) {
    const auto found = runs_.find(update.id);
    if (found == runs_.end()) {
      complain("an update of a run that is not stored, run " + text(update.id.value));
      continue;
    }
    count_ends(found->second.progress, update.progress);
    found->second.progress = update.progress;
    note_dispatch(found->second);
  }
}

void SimStore::count_ends(const model::RunProgress& before, const model::RunProgress& after) {
  if (model::is_final(before.state)) {
    if (after.state != before.state) complain("a final run changed");
    return;
  }
  if (after.state == RunState::Lost) marks_.hit("run_lost");
  if (after.state == RunState::Killed) marks_.hit("run_killed");
  if (after.state == RunState::TimedOut) marks_.hit("run_timed_out");
  if (after.state == RunState::Cancelled) marks_.hit("run_cancelled_early");
}

void SimStore::note_dispatch(const model::Run& run) {
  if (run.progress.attempt == 0 || !dispatched_.insert({run.id, run.progress.attempt}).second) return;
  const auto drain = drains_.find(run.progress.worker.id);
  if (drain != drains_.end() && drain->second.draining) {
    complain("a drained worker got a new attempt, of run " + text(run.id.value));
  }
}

std::shared_ptr<const model::JobDefinition> SimStore::definition(JobId job, JobVersion version) const {
  return versions_.at({job, version}).definition;
}

master::core::Recovered SimStore::recover() const {
  master::core::Recovered all;
  all.watermark = watermark_;
  std::set<JobId> needed;
  for (const auto& [id, run] : runs_) {
    if (run.progress.state == RunState::Lost) all.given_up.push_back({id, run.progress.attempt});
    if (model::is_final(run.progress.state)) continue;
    all.runs.push_back(run);
    needed.insert(run.job);
  }
  for (const auto& [key, row] : attempts_) {
    if (!row.late && row.outcome.reason == Reason::WorkerLost) all.given_up.push_back({key.first, key.second});
  }
  for (const auto& [id, job] : jobs_) {
    if ((job.one_off || job.state == model::JobState::Deleted) && !needed.contains(id)) continue;
    const model::JobVersionRow& row = versions_.at({id, job.version});
    master::core::RecoveredJob entry;
    entry.job = job;
    entry.rules = std::make_shared<const model::JobRules>(row.definition->rules);
    entry.zone = std::make_shared<const model::ZoneRules>();
    entry.valid_from = row.valid_from;
    entry.anchor = row.anchor;
    entry.definition_hash = master::core::definition_hash(*row.definition);
    all.jobs.push_back(std::move(entry));
  }
  for (const auto& [worker, drain] : drains_) {
    if (drain.draining) all.drains.push_back(drain);
  }
  return all;
}

std::string SimStore::judge_ticks() const {
  if (!watermark_) return "";
  std::map<std::pair<JobId, WallTime>, int> planned;
  for (const auto& [key, row] : versions_) {
    if (!row.enabled || row.definition->rules.schedule.kind == model::ScheduleKind::None) continue;
    const auto schedule = master::core::compile(row.definition->rules.schedule,
                                                std::make_shared<const model::ZoneRules>(), row.anchor);
    const WallTime end = row.valid_to ? *row.valid_to : *watermark_;
    for (auto tick = schedule->next_after(row.valid_from); tick && *tick <= end;
         tick = schedule->next_after(*tick)) {
      planned[{row.job, *tick}] = 0;
    }
  }
  for (const auto& [key, run] : ticks_) {
    if (key.second > *watermark_ && !planned.contains(key)) continue;
    const auto found = planned.find(key);
    if (found == planned.end()) return "P1: a run of a tick that was not planned, run " + text(run.value);
    ++found->second;
  }
  for (const model::Gap& gap : gaps_) {
    std::int64_t covered = 0;
    for (auto at = planned.lower_bound({gap.job, gap.from});
         at != planned.end() && at->first.first == gap.job && at->first.second <= gap.to; ++at) {
      ++at->second;
      ++covered;
    }
    if (covered != gap.count) {
      return "P1: a gap of " + text(gap.count) + " covers " + text(covered) + " planned ticks of job " +
             text(gap.job.value) + " from " + text(to_ms(gap.from));
    }
  }
  for (const auto& [key, times] : planned) {
    if (times == 1 || (times == 0 && key.second > *watermark_)) continue;
    return "P1: tick " + text(to_ms(key.second)) + " of job " + text(key.first.value) + " is there " +
           text(times) + " times";
  }
  return "";
}

}  // namespace rota::sim
