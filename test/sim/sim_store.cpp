#include "sim_store.h"

#include <algorithm>
#include <utility>

#include "calendar_judge.h"
#include "common/base/check.h"
#include "sim_zones.h"

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
  if (is_deposed_unseen(epoch)) return apply_deposed(changes);
  const auto seen = stored_.find(epoch);
  const bool lacks = seen != stored_.end() && (!tables_.watermark || *tables_.watermark < seen->second);
  if (tables_.epoch <= epoch && lacks) {  // like production on each new connection
    return {ApplyOutcome::Failed, "the database lacks what this leader stored", {}, true, true};
  }
  if (epoch != tables_.epoch) return {ApplyOutcome::Fenced, "another epoch", tables_.epoch};
  if (faults.freezes_caller > Millis{0}) {  // the database ends its transaction
    caller_freezes = std::exchange(faults.freezes_caller, Millis{0});
    locked_until_ = clockwork_.now() + std::min(caller_freezes, kIdleTransaction);
    return {ApplyOutcome::Failed, "the transaction was ended", {}};
  }
  if (auto fits = check_changes(tables_, changes); !fits) {
    if (!went_back_) complain("P1/P11: the store refuses a batch: " + fits.error().message);
    return {ApplyOutcome::Failed, fits.error().message, {}, true};
  }
  faults.down = std::exchange(faults.dies_at_commit, false);
  const bool lost = faults.down || random_.per_mille(faults.unknown_per_mille);
  if (lost && changes.empty()) {  // a bare check has no COMMIT with an unknown outcome
    marks_.hit("fault_apply_failed");
    return {ApplyOutcome::Failed, "answer lost", {}};
  }
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

/// The leader's own node does not show its successor's claim yet.
bool SimStore::is_deposed_unseen(Epoch epoch) const {
  return lagging_ && clockwork_.now() < lags_until_ && lagging_->epoch == epoch && epoch < tables_.epoch;
}

/// By certification it is refused all the same, without a word about the epoch.
ApplyResult SimStore::apply_deposed(const Changes& changes) {
  marks_.hit("deposed_at_a_lagging_node");
  if (nodes.fence_is_certified) return {ApplyOutcome::Failed, "certification failed", {}};
  complain(changes.empty() ? "P4: a deposed leader's check is answered behind its successor's claim"
                           : "P7: a deposed leader's batch is committed behind its successor's claim");
  return {ApplyOutcome::Applied, "", {}};
}

/// A batch of a leader that holds ticks shows only in the leader's next beat.
constexpr Millis kBetweenBeats{2500};

void SimStore::judge_office(const master::store::Claim& claim) {
  const bool is_strange = claim.holder.name == stranger_;
  if (is_strange == (tables_.holder.name == stranger_)) return;
  if (!is_strange && std::exchange(accepted_, false)) return;
  const Millis quiet = floor_ms(clockwork_.now() - last_commit_);
  if (held_in(tables_) > 0) {
    complain("P34: " + claim.holder.name + " takes another cluster's database over attempts under way");
  }
  if (quiet + kBetweenBeats < quiet_needed_) {
    complain("P34: " + claim.holder.name + " takes another cluster's database " + text(quiet.count()) +
             " ms after its last commit");
  }
}

void SimStore::enter_office(const master::store::Claim& claim) {
  const Epoch epoch = claim.epoch;
  if (epoch <= highest_ever_) complain("P9: epoch " + text(epoch.value) + " is taken again");
  highest_ever_ = std::max(highest_ever_, epoch);
  if (!stranger_.empty() && tables_.epoch != Epoch{}) judge_office(claim);
  (void)put_claim(tables_, claim);
  last_commit_ = clockwork_.now();
}

bool SimStore::go_back(const master::StoredMark& noted) {
  if (!backup_ || backup_->epoch == Epoch{}) return false;
  const master::StoredMark copied{backup_->epoch, backup_->watermark};
  if (copied >= master::StoredMark{tables_.epoch, tables_.watermark}) return false;
  // An edit alone moves no watermark: a copy that lacks only that is noticed by nobody (docs/operating.md).
  const bool lacks_edits_alone = backup_->watermark == tables_.watermark && backup_->versions.size() != tables_.versions.size();
  if (lacks_edits_alone) return false;
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
  lagging_.reset();
  semaphore_judge_.begin_anew(tables_);
  quota_judge_.begin_anew();
  went_back_ = is_unnoticed_ = true;
  must_notice_ = noted > copied;
  return true;
}

std::int32_t SimStore::amount_when_sent(model::AttemptKey key, const AmountName& name) const {
  const auto sent = dispatched_.find(key);
  const auto changes = amounts_changed_.find(name);
  if (sent == dispatched_.end() || changes == amounts_changed_.end()) return 0;
  std::int32_t version = 0;
  for (const auto& [batch, changed_to] : changes->second) {
    if (batch < sent->second) version = changed_to;
  }
  return version;
}

void SimStore::note_amounts(const Changes& changes) {
  ++batch_;
  for (const auto& row : changes.semaphores) amounts_changed_[{row.space, row.name}].emplace_back(batch_, row.version);
  for (const auto& row : changes.quotas) {
    const auto& of = row.of == model::QuotaOf::Pool ? kPoolTokens : kSpaceTokens;
    amounts_changed_[{of, row.name}].emplace_back(batch_, row.version);
  }
}

std::int64_t SimStore::most_tokens(const std::pair<std::string, std::string>& name, std::int32_t since) const {
  const std::vector<std::int64_t> amounts = amounts_since(tables_, name, went_back_ ? 0 : since);
  return amounts.empty() ? 0 : *std::ranges::max_element(amounts);
}

/// Until then, an older leader may have continued to write: its epoch is in force again.
void SimStore::note_takeover(Epoch epoch, bool noticed) {
  if (noticed && !held_from_) held_from_ = epoch;
  if (!std::exchange(is_unnoticed_, false) || noticed) return;
  if (must_notice_) complain("P9: a database that lost what ZooKeeper knew of is not noticed");
  marks_.hit("loss_too_small_to_notice");
}

std::unique_ptr<master::store::MemoryStore> SimStore::as_memory_store() const {
  return std::make_unique<master::store::MemoryStore>(tables_);
}

/// The leader of this takeover goes on with none of them, even when a job with that id comes again.
void SimStore::note_left_out() {
  left_out_.clear();
  for (const auto& [id, run] : tables_.runs) {
    if (!model::is_final(run.progress.state) && !has_job(run.job)) left_out_.insert(id);
  }
}

Result<master::core::Recovered> SimStore::recover() {
  const bool lags = lagging_ && clockwork_.now() < lags_until_;
  if (lags) marks_.hit("takeover_at_a_lagging_node");
  const bool is_stale = lags && !nodes.reads_wait && lagging_->epoch < tables_.epoch;
  if (is_stale) complain("P9: a takeover reads rows older than its claim, from a node that lags");
  note_left_out();
  const auto is_open = [](const auto& each) { return each.second.state == model::Delivery::Open; };
  if (std::ranges::any_of(tables_.notifications, is_open)) marks_.hit("notification_open_at_takeover");
  return master::store::recover_from(is_stale ? *lagging_ : tables_, sim_zone);
}

void SimStore::write(const Changes& changes) {
  if (!changes.empty()) last_commit_ = clockwork_.now();
  note_amounts(changes);
  put_definitions(tables_, changes);
  for (const model::Freeze& freeze : changes.freezes) tables_.freezes.insert_or_assign(freeze.id, freeze);
  judge_definitions(changes);
  judge_calendars(changes);
  for (const auto& row : changes.quotas) tables_.quotas.try_emplace({row.of, row.name, row.version}, row);
  judge_gaps(changes);
  judge_new_runs(changes);
  complain_if(quota_judge_.judge_new_runs(tables_, changes));
  complain_if(setting_judge_.judge_batch(tables_, changes));
  put_new_runs(tables_, changes);
  for (const master::core::RunUpdate& update : changes.updated_runs) {
    const bool was_waiting = tables_.runs.at(update.id).progress.reason == Reason::CaughtUp;
    if (was_waiting && update.progress.reason != Reason::CaughtUp) marks_.hit("run_caught_up");
    judge_first_dispatch(tables_.runs.at(update.id).progress, update.progress);
    count_ends(update.id, tables_.runs.at(update.id).progress, update.progress);
    judge_hold(tables_.runs.at(update.id).progress, update.progress, changes);
    const bool ends = !model::is_final(tables_.runs.at(update.id).progress.state) &&
                      model::is_final(update.progress.state);
    put_update(tables_, update);
    overlap_judge_.note(tables_, update.id);
    semaphore_judge_.note(tables_, update.id);
    if (ends) ended_now_.insert(update.id);
    if (ends) complain_if(overlap_judge_.judge_end(tables_, tables_.runs.at(update.id)));
    if (ends) complain_if(judge_time(tables_, tables_.runs.at(update.id), marks_));
    note_dispatch(update.id, update.progress, changes);
  }
  for (const model::Run& run : changes.new_runs) {
    judge_hold({}, run.progress, changes);
    first_stored_.try_emplace(run.id, clockwork_.now());
  }
  judge_rest(changes);
  hold_judge_.note(tables_, changes);
  if (!went_back_) complain_if(expect_judge_.judge_rows(tables_, changes));
  put_the_rest(tables_, changes);
  if (!changes.holds.empty()) complain_if(hold_judge_.judge_batch(tables_));
  if (!went_back_) complain_if(child_judge_.judge_batch(tables_, changes, ended_now_));
  judge_told(changes);
  if (!went_back_) complain_if(scale_judge_.judge_batch(tables_, changes));
  const bool may_lack_calendar = !changes.calendars.empty() || !changes.versions.empty();
  if (may_lack_calendar) complain_if(judge_calendar_users(tables_));
  note_edits_that_count();
  for (const model::Run& run : changes.new_runs) {
    overlap_judge_.note(tables_, run.id);
    semaphore_judge_.note(tables_, run.id);
  }
  complain_if(overlap_judge_.judge_batch(tables_, left_out_));
  complain_if(semaphore_judge_.judge_batch(tables_, left_out_));
  const bool says_more = changes.watermark || !changes.versions.empty() || !changes.jobs.empty();
  if (says_more) complain_if(judge_.judge_window(tables_));
  if (tables_.watermark && tables_.watermark->is_parted()) marks_.hit("tick_slice_stored");
}

/// A database that went back may give an attempt's number to a life that had it before.
void SimStore::judge_hold(const model::RunProgress& before, const model::RunProgress& after, const Changes& changes) {
  const bool is_sent = after.attempt > before.attempt && after.dispatched.has_value();
  if (is_sent && !went_back_) complain_if(hold_judge_.judge_dispatch(tables_, after.worker.id, changes));
}

void SimStore::judge_told(const Changes& changes) {
  for (const auto& update : changes.updated_runs) {
    if (ended_now_.erase(update.id) > 0 && !is_tainted(tables_.runs.at(update.id).job)) {
      complain_if(notify_judge_.judge_end(tables_, changes, tables_.runs.at(update.id)));
      if (!went_back_) complain_if(expect_judge_.judge_end(tables_, tables_.runs.at(update.id)));
    }
  }
  complain_if(notify_judge_.judge_batch(tables_, changes));
  for (const model::Gap& gap : changes.gaps) {
    if (!went_back_) complain_if(expect_judge_.judge_gap(tables_, gap));
  }
}

/// The database's store does not write what is empty before any attempt (kDispatchApart).
void SimStore::judge_first_dispatch(const model::RunProgress& before, const model::RunProgress& after) {
  const bool is_first = after.state == RunState::Dispatched && after.attempt == 1 && !after.started &&
                        after.outcome == model::Outcome{};
  if (went_back_ || !is_first) return;
  marks_.hit("first_dispatch_judged");
  const bool is_touched = model::is_final(before.state) || before.started || before.ended || before.losses != 0 || before.outcome != model::Outcome{};
  if (is_touched) complain("an attempt left its traces before the first dispatch");
}

void SimStore::judge_definitions(const Changes& changes) {
  for (const model::JobVersionRow& row : changes.versions) {
    if (row.valid_to && *row.valid_to < row.valid_from) complain("a version ends before it begins");
  }
}

void SimStore::judge_calendars(const Changes& changes) {
  for (const model::CalendarRow& row : changes.calendars) {
    if (tables_.calendars.contains({row.space, row.calendar->name, row.version})) continue;  // a repeated batch
    complain_if(judge_calendar(tables_, row));
    const bool is_edit = !row.deleted && living_calendar(tables_, row.space, row.calendar->name) != nullptr;
    marks_.hit(row.deleted ? "calendar_deleted" : is_edit ? "calendar_edited" : "calendar_created");
    if (is_edit) edits_to_count_.emplace(row.from, tables_.epoch);
    tables_.calendars.emplace(std::tuple{row.space, row.calendar->name, row.version}, row);  // a batch may hold several
  }
}

void SimStore::note_edits_that_count() {
  if (!tables_.watermark) return;
  while (!edits_to_count_.empty() && edits_to_count_.begin()->first <= tables_.watermark->through) {
    if (edits_to_count_.begin()->second != tables_.epoch) marks_.hit("calendar_edit_counted_in_a_later_term");
    edits_to_count_.erase(edits_to_count_.begin());
  }
}

void SimStore::judge_gaps(const Changes& changes) {
  for (const model::Gap& gap : changes.gaps) {
    if (tables_.gaps.contains({gap.job, gap.version, gap.from})) continue;  // a repeated batch
    if (is_held_by_restore()) complain("P9: a gap is recorded while the restored database waits to be accepted");
    complain_if(judge_.judge_gap(tables_, gap));
    tables_.open_gaps.push_back({gap, 0});
    if (gap.reason == Reason::OverlapSkipped) marks_.hit("tick_overlap_skipped");
    if (gap.reason == Reason::QueueFull) marks_.hit("tick_queue_full");
    if (gap.reason == Reason::NamespaceUnfinished) marks_.hit("tick_beyond_unfinished");
    if (gap.reason == Reason::NamespaceFirings) marks_.hit("tick_beyond_firings");
    if (gap.reason == Reason::Missed) marks_.hit("tick_missed");
    if (gap.reason == Reason::CoalescedInto) marks_.hit("tick_coalesced");
    if (gap.reason == Reason::Frozen) marks_.hit("tick_frozen");
    if (gap.reason == Reason::LateSkipped) marks_.hit("tick_late_skipped");
  }
}

void SimStore::judge_new_runs(const Changes& changes) {
  for (const model::Run& run : changes.new_runs) {
    if (tables_.runs.contains(run.id)) continue;
    if (run.tick) {
      marks_.hit("tick_fired");
      if (is_held_by_restore()) complain("P9: a tick fires while the restored database waits to be accepted");
      complain_if(judge_.judge_run(tables_, run));
      if (judge_.is_after_end(tables_, run)) marks_.hit("tick_after_end");
    }
    if (run.kind == model::RunKind::AfterFreeze) {
      marks_.hit("frozen_tick_made_up");
      complain_if(judge_.judge_made_up(tables_, run));
    }
    if (run.kind == model::RunKind::WorkerStart) judge_start(run, changes);
    if (run.progress.reason == Reason::CaughtUp) marks_.hit("run_waits_to_be_caught_up");
    if (run.progress.state == RunState::Skipped) marks_.hit("run_skipped");
    if (run.progress.reason == Reason::Jitter) marks_.hit("start_jittered");
    if (run.progress.reason == Reason::WaitsForRun) marks_.hit("run_waited_behind");
    note_dispatch(run.id, run.progress, changes);
  }
}

/// Each start fires a job once, in the batch that accepts it, for this and all later leaders.
void SimStore::judge_start(const model::Run& run, const Changes& changes) {
  marks_.hit(run.progress.state == RunState::Skipped ? "worker_start_skipped" : "worker_start_fired");
  const auto key = model::start_in(run.request_key);
  const bool is_accepted = key && std::ranges::any_of(changes.starts, [&](const model::WorkerStart& start) {
    return start.key == *key && start.accepted == run.scheduled;
  });
  if (!is_accepted) complain("P38: a run of a start that its batch does not accept, run " + text(run.id.value));
  const bool is_first = fired_starts_.insert(run.request_key).second;
  if (!is_first && !went_back_) complain("P38: a start fires twice, run " + text(run.id.value));
}

void SimStore::judge_rest(const Changes& changes) {
  for (const model::Job& job : changes.jobs) {
    if (job.state != model::JobState::Paused || job.state_by != "rota") continue;
    if (job.state_why.ends_with("(firings)")) marks_.hit("job_done_by_firings");
    if (job.state_why.ends_with("(until: success)")) marks_.hit("job_done_by_success");
    if (job.state_why.ends_with("(pause_after_failures)")) marks_.hit("job_paused_by_failures");
  }
  for (const model::AttemptRow& row : changes.attempts) {
    if (row.late) marks_.hit("result_late");
    if (tables_.attempts.contains({row.run, row.attempt})) continue;
    if (!row.late) marks_.hit("run_retried");
    if (!row.late && row.outcome.state == RunState::Lost && row.outcome.reason != Reason::HandedOver) {
      lost_attempts_.insert({row.run, row.attempt});
    }
    if (row.outcome.reason == Reason::HandedOver) marks_.hit("attempt_handed_over");
  }
  for (const model::RunNote& note : changes.notes) {
    marks_.hit("note_stored");
    const auto kept = tables_.notes.find(note.run);
    if (kept == tables_.notes.end() || note.attempt >= kept->second.attempt) continue;
    complain("an older attempt's checkpoint replaced a newer one's");
  }
  const bool back = changes.watermark && tables_.watermark && *changes.watermark < *tables_.watermark;
  if (back) complain("the watermark went back");
  constexpr Millis kAhead{4000};  // a host's clock and the database's may differ by 2 s, and drift between two looks
  const bool is_ahead = changes.watermark && changes.watermark->reaching > clockwork_.true_wall() + kAhead;
  if (is_ahead && !believes_a_wrong_clock) complain("P21: ticks are recorded ahead of the time");
}

Result<void> SimStore::rewind(const master::store::Rewind& rewind) {
  if (auto done = master::store::put_rewind(tables_, rewind); !done) return done;
  for (auto& [job, through] : tables_.judged_through) through = std::min(through, rewind.to);
  std::erase_if(tables_.open_gaps, [&](const auto& gap) { return gap.row.to > rewind.to; });
  judge_.forget_readings();
  marks_.hit("ticks_rewound");
  return {};
}

void SimStore::count_ends(RunId run, const model::RunProgress& before, const model::RunProgress& after) {
  if (before.cancel_asked && !after.cancel_asked) complain("P10: a cancel is forgotten");
  if (after.attempt < before.attempt) complain("an attempt's number went back");
  if (model::is_final(before.state)) {
    if (after.state != before.state) complain("a final run changed");
    return;
  }
  const auto asks = model::Reason::WaitsForConfirmation;
  if (after.reason == asks && before.reason != asks) marks_.hit("run_waited_for_confirmation");
  if (after.state == RunState::Lost) {
    marks_.hit("run_lost");
    if (after.reason == model::Reason::LossLimit) marks_.hit("loss_limit_reached");
    lost_attempts_.insert({run, after.attempt});
  }
  if (after.reason == Reason::WorkerStartOver) marks_.hit("worker_start_over");
  if (after.state == RunState::Killed) marks_.hit("run_killed");
  if (after.state == RunState::TimedOut) marks_.hit("run_timed_out");
  if (after.state == RunState::Cancelled) marks_.hit("run_cancelled_early");
}

/// A worker that a batch resumes may get attempts in the same batch; one that it drains got none after that.
void SimStore::note_dispatch(RunId run, const model::RunProgress& progress, const Changes& changes) {
  if (progress.attempt == 0 || !dispatched_.try_emplace({run, progress.attempt}, batch_).second) return;
  if (const auto row = tables_.runs.find(run); row != tables_.runs.end() && !went_back_) {
    complain_if(judge_begin(tables_, changes, row->second, marks_));
    complain_if(judge_retry(tables_, changes.attempts, row->second, marks_));
  }
  const auto drain = tables_.drains.find(progress.worker.id);
  if (drain == tables_.drains.end() || !drain->second.draining) return;
  const bool resumed = std::ranges::any_of(changes.drains, [&](const auto& d) {
    return d.worker == progress.worker.id && !d.draining;
  });
  if (!resumed) complain("a drained worker got a new attempt, of run " + text(run.value));
}

std::shared_ptr<const model::JobDefinition> SimStore::definition(JobId job, JobVersion version) const {
  const auto found = tables_.versions.find({job, version});
  return found == tables_.versions.end() ? nullptr : found->second.definition;
}

}  // namespace rota::sim
