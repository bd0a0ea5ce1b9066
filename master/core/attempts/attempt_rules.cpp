#include "master/core/attempts/attempt_rules.h"

#include "common/base/check.h"
#include "master/core/batch_rows.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/drain_rules.h"
#include "master/core/attempts/cancel_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/attempts/loss_rules.h"
#include "master/core/notices.h"
#include "master/core/attempts/retry.h"

namespace rota::master::core {

using model::Outcome;
using model::Reason;
using model::RunState;

namespace {

/// No copy of the database can lack more attempts of one run than this; a higher number is damaged.
constexpr std::int32_t kMostForgotten = 100'000;

model::AttemptRow history_of(const State& state, const RunEntry& run, const Outcome& outcome) {
  model::AttemptRow row;
  row.run = run.id();
  row.attempt = run.progress().attempt;
  row.worker = run.progress().worker();
  row.epoch = state.epoch();
  row.dispatched = run.progress().dispatched();
  row.outcome = outcome;
  const bool is_untold = outcome.state == RunState::Lost && outcome.started == WallTime{};
  if (is_untold && run.progress().started()) row.outcome.started = *run.progress().started();
  return row;
}

/// The run waits for its next attempt; without a pause it is queued at once.
void wait_for_retry(Context& ctx, RunEntry& run, const Outcome& outcome, Millis pause, std::string why) {
  State& state = ctx.state;
  ctx.out.changes.attempts.push_back(history_of(state, run, outcome));
  ++state.counters().retries;
  if (!run.progress().first_dispatched()) run.set_first_dispatched(run.progress().dispatched());
  state.runs().timers().clear_all(run.id());
  state.set_state(run, RunState::Waiting, Reason::RetryDelay, std::move(why));
  run.set_outcome(outcome);
  state.touch(run);
  watch_limit(state, run, ctx.at, ctx.now.mono);
  if (pause <= Millis{0}) {
    state.enter_slot_queue(run);
    return;
  }
  run.set_not_before(ctx.at + pause);
  state.runs().timers().set(run.id(), RunTimer::RetryDelay, ctx.now.mono + pause);
}

void finish_as(Context& ctx, RunEntry& run, Outcome outcome, RunState state, Reason reason) {
  outcome.state = state;
  if (outcome.started != WallTime{}) run.set_started(outcome.started);
  run.set_outcome(std::move(outcome));
  finish_run(ctx, run, state, reason, run.progress().detail());
}

void tell_loss(Context& ctx, const RunEntry& run, const Outcome& outcome, std::string_view then) {
  warn(ctx, "attempt lost", {{"run", std::to_string(run.id().value)},
                             {"attempt", std::to_string(run.progress().attempt)},
                             {"job", job_of(ctx.state, run)},
                             {"worker", run.progress().worker().id},
                             {"why", std::string(name_of(outcome.reason))},
                             {"then", std::string(then)}});
}

void finish_with(Context& ctx, RunEntry& run, Outcome outcome, RunState state) {
  const bool is_cancel = outcome.reason == Reason::CancelledByUser;
  const Reason reason = is_cancel ? cancel_reason(run) : outcome.reason;
  finish_as(ctx, run, std::move(outcome), state, reason);
}

std::string failure_text(const RunEntry& run, const Outcome& outcome) {
  return "attempt " + std::to_string(run.progress().attempt) + " " + std::string(name_of(outcome.state));
}

/// The loss policy decides whether another attempt follows.
void follow_loss(Context& ctx, RunEntry& run, const Outcome& outcome, bool handed_over) {
  const RunTrack& progress = run.progress();
  if (!handed_over) run.count_loss();
  std::string told = loss_text(progress.attempt, progress.worker().id, progress.losses,
                                     run.rules().loss_most);
  switch (after_loss(run.rules(), progress.losses, handed_over)) {
    case AfterLoss::EndLost:
      tell_loss(ctx, run, outcome, "its run ends (loss: never)");
      return finish_with(ctx, run, outcome, handed_over ? RunState::Killed : RunState::Lost);
    case AfterLoss::EndAtLimit:
      run.set_detail(std::move(told));
      tell_loss(ctx, run, outcome, "its run ends (loss: most)");
      return finish_as(ctx, run, outcome, RunState::Lost, Reason::LossLimit);
    case AfterLoss::Rerun: break;
  }
  const Millis pause = handed_over ? Millis{0} : loss_delay(progress.losses);
  if (!has_time_at(ctx.state, run, ctx.at + pause)) {
    run.set_detail(run_limit_text(ctx.state, run) + "; " + (handed_over ? failure_text(run, outcome) : told));
    tell_loss(ctx, run, outcome, "its run ends (timeout: run)");
    return finish_as(ctx, run, outcome, handed_over ? RunState::Killed : RunState::Lost, Reason::RunTimeout);
  }
  tell_loss(ctx, run, outcome, "its run is started again");
  wait_for_retry(ctx, run, outcome, pause, handed_over ? failure_text(run, outcome) : told);
}

/// The attempt was lost, or something other than the attempt itself ended it.
void end_lost(Context& ctx, RunEntry& run, EndProof proof, Outcome outcome) {
  State& state = ctx.state;
  ++state.counters().losses;
  const bool proven = proof != EndProof::FencePassed;
  const bool handed_over = outcome.state == RunState::Killed && was_handed_over(ctx, run);
  if (handed_over) {
    outcome.reason = Reason::HandedOver;
    outcome.message = "worker " + run.progress().worker().id + " is drained: ended at the deadline";
  }
  if (!proven) state.given_up().add(run.attempt());
  if (run.progress().cancel_asked) {
    outcome.reason = proven ? Reason::CancelledByUser : outcome.reason;
    if (!proven) tell_loss(ctx, run, outcome, "its run was cancelled, and ends");
    finish_with(ctx, run, outcome, proven ? RunState::Killed : RunState::Lost);
    return;
  }
  follow_loss(ctx, run, outcome, handed_over);
}

/// The backstop asks late, and a report may come even later. An attempt that was killed within its timeout
/// was ended by something else (for example a drain that has ended since), so the timeout did not end it.
bool ended_by_backstop(const State& state, const RunEntry& run, const Outcome& outcome) {
  if (outcome.state != RunState::Killed || !run.timed_out || run.progress().cancel_asked) return false;
  const bool is_untold = outcome.started == WallTime{} || outcome.ended == WallTime{};
  return is_untold || outcome.ended - outcome.started >= limit_of_attempt(state, run).most;
}

/// It failed or timed out by itself. True when it is to be tried again.
bool try_again(Context& ctx, RunEntry& run, const Outcome& outcome) {
  const FailedAttempt attempt{run.attempt(), run.progress().failures, age_of(run, ctx.at)};
  NextTry next = next_try(run.rules().retry, outcome, attempt);
  if (next.is_failure) run.count_failure();
  if (next.is_failure && outcome.reason != Reason::HandlerUnknown) note_failure_there(ctx, run);
  const bool may_follow = !run.progress().cancel_asked && outcome.reason != Reason::HandlerUnknown;
  if (!may_follow) return false;
  if (!next.pause) {
    if (!next.why.empty()) run.set_detail(std::move(next.why));
    return false;
  }
  if (!has_time_at(ctx.state, run, ctx.at + *next.pause)) {
    run.set_detail("no time for another attempt, " + run_limit_text(ctx.state, run));
    return false;
  }
  const std::string told = failure_text(run, outcome);
  wait_for_retry(ctx, run, outcome, *next.pause, next.why.empty() ? told : told + ": " + next.why);
  return true;
}

void end_reported(Context& ctx, RunEntry& run, Outcome outcome) {
  if (ended_by_backstop(ctx.state, run, outcome)) {
    outcome.state = RunState::TimedOut;
    outcome.reason = Reason::AttemptTimeout;
  }
  const AttemptLimit limit = limit_of_attempt(ctx.state, run);
  if (outcome.state == RunState::TimedOut && limit.is_of_run) {
    run.set_detail(run_limit_text(ctx.state, run));
    return finish_as(ctx, run, std::move(outcome), RunState::TimedOut, Reason::RunTimeout);
  }
  if (outcome.state == RunState::TimedOut && limit.is_default) run.set_detail(attempt_limit_text(run, limit));
  if (outcome.state == RunState::Succeeded) note_success_there(ctx, run);
  if (may_retry(outcome.state) && try_again(ctx, run, outcome)) return;
  const RunState state = outcome.state;
  finish_with(ctx, run, std::move(outcome), state);
}

/// A slot whose process set was not seen empty is not used again.
void note_unusable_slot(State& state, const RunEntry& run, const Outcome& outcome) {
  if (outcome.state != RunState::KillFailed || outcome.reason == Reason::CleanupFailed) return;
  LifeEntry* life = state.find_life(run.progress().worker());
  if (life == nullptr) return;
  state.workers().lose_slot(*life, run.rules());
}

/// The late result of an attempt that was counted as lost, or that a restored database does not know.
void apply_late_outcome(Context& ctx, RunEntry* run, model::AttemptKey key,
               const model::WorkerKey& accepted_by, const Outcome& outcome) {
  State& state = ctx.state;
  state.given_up().remove(key);
  ++state.counters().late_results;
  model::AttemptRow row;
  row.run = key.run;
  row.attempt = key.attempt;
  row.worker = accepted_by;
  row.epoch = state.epoch();
  row.late = true;
  row.outcome = outcome;
  ctx.out.changes.attempts.push_back(std::move(row));
  const bool no_other_began = run != nullptr && !model::is_final(run->progress().state) &&
                              !run->is_held() && run->progress().attempt == key.attempt;
  if (!no_other_began || outcome.state != RunState::Succeeded) return;
  if (!run->progress().dispatched()) {  // nobody knows when; but not after it had started
    state.set_past_worker(*run, accepted_by, outcome.started);
  }
  finish_with(ctx, *run, outcome, RunState::Succeeded);
}

void apply_started(Context& ctx, const model::AttemptReport& report) {
  RunEntry* run = ctx.state.find_run(report.key.run);
  if (run == nullptr || !run->is_of(report.key, report.worker.id)) return;
  run->send.accepted = true;
  ctx.state.runs().timers().clear(run->id(), RunTimer::DispatchRetry);
  mark_running(ctx, *run, report.started);
}

/// Only the newest attempt's progress and checkpoints count: an older attempt that is late or cut off must
/// never undo what its successor has reached. Between two attempts those of the last one still count.
void apply_note(Context& ctx, const model::AttemptReport& report) {
  const RunEntry* run = ctx.state.find_run(report.key.run);
  if (run == nullptr || run->progress().attempt != report.key.attempt) {
    ++ctx.state.counters().stale_notes;
    return;
  }
  model::RunNote note = *report.note;
  note.run = report.key.run;
  note.attempt = report.key.attempt;
  ++ctx.state.counters().notes;
  ctx.out.changes.notes.push_back(std::move(note));
}

/// What its worker is said to have done with it; a kill that was asked for is neither.
void note_work(State& state, const RunEntry& run, RunState end) {
  const bool has_succeeded = end == RunState::Succeeded;
  if (!has_succeeded && end == RunState::Killed) return;
  state.work().note_end(run.progress().worker().id, has_succeeded);
}

}  // namespace

void end_attempt(Context& ctx, RunEntry& run, EndProof proof, const Outcome& outcome) {
  CHECK_OR_DIE(run.is_held(), "an attempt ended that no worker held");
  ++ctx.state.counters().attempts_ended[outcome.state];
  note_work(ctx.state, run, outcome.state);
  note_unusable_slot(ctx.state, run, outcome);
  const bool lost = proof != EndProof::Reported || outcome.state == RunState::Lost ||
                    (outcome.state == RunState::Killed && !run.progress().cancel_asked &&
                     !ended_by_backstop(ctx.state, run, outcome));
  if (lost) {
    end_lost(ctx, run, proof, outcome);
  } else {
    end_reported(ctx, run, outcome);
  }
}

void end_retry_delay(Context& ctx, RunEntry& run) {
  if (run.progress().state != RunState::Waiting) return;
  run.set_not_before(std::nullopt);
  ctx.state.enter_slot_queue(run);
  ctx.state.touch(run);
}

bool pass_forgotten(State& state, RunEntry& run, std::int32_t attempt) {
  const std::int32_t known = run.last_attempt();
  if (attempt <= known || attempt - known > kMostForgotten) return false;
  run.forgotten = attempt;
  if (run.is_held()) return true;
  state.set_attempt_number(run, attempt);  // stored, so that the next Term knows it too
  state.touch(run);
  return true;
}

void apply_outcome(Context& ctx, model::AttemptKey key, const model::WorkerKey& accepted_by,
                  const Outcome& outcome) {
  State& state = ctx.state;
  RunEntry* run = state.find_run(key.run);
  if (run != nullptr && run->is_of(key, accepted_by.id)) {
    end_attempt(ctx, *run, EndProof::Reported, outcome);
    return;
  }
  const bool is_forgotten = run != nullptr && pass_forgotten(state, *run, key.attempt);
  if (is_forgotten || state.given_up().contains(key)) {
    apply_late_outcome(ctx, run, key, accepted_by, outcome);
    return;
  }
  ++state.counters().repeated_reports;
}

void handle_reported(Context& ctx, const Reported& event) {
  ReportsTaken taken;
  taken.taken.reserve(event.reports.size());
  make_room(ctx.out.changes.updated_runs, event.reports.size());
  for (const model::AttemptReport& report : event.reports) {
    ++ctx.state.counters().reports;
    if (report.note) apply_note(ctx, report);  // before the end, which may begin another attempt
    if (report.what == model::AttemptReport::What::Started) {
      apply_started(ctx, report);
    } else {
      apply_outcome(ctx, report.key, report.worker, report.outcome);
    }
    taken.taken.push_back(report.key);
  }
  reply(ctx, event.token, std::move(taken));
}

}  // namespace rota::master::core
