#include "master/store/mysql/run_rows.h"

#include <fmt/format.h>

#include "common/wire/definition_json.h"
#include "master/store/mysql/replaced_rows.h"

namespace rota::master::store {
namespace {

// Columns in groups, written once. A macro, since statements and their tails are joined at compile time.
#define ROTA_BARE                                                                                \
  "run_id, namespace, principal, job_id, job_version, kind, tick_ms, scheduled_ms, recorded_ms, " \
  "request_key, request_hash"
#define ROTA_FIXED ROTA_BARE ", parameters"
#define ROTA_PROGRESS                                                                     \
  "state, reason, detail, attempt, worker_id, worker_incarnation, epoch, dispatched_ms, " \
  "started_ms, ended_ms, not_before_ms, cancel_asked, losses"
/// ROTA_PROGRESS of a run whose dispatch may stand in run_open alone.
constexpr std::string_view kProgressOfBoth =
    "IF(o.attempt > 0, 'dispatched', r.state), IF(o.attempt > 0, 'none', r.reason), "
    "IF(o.attempt > 0, '', r.detail), IF(o.attempt > 0, o.attempt, r.attempt), "
    "IF(o.attempt > 0, o.worker_id, r.worker_id), "
    "IF(o.attempt > 0, o.worker_incarnation, r.worker_incarnation), IF(o.attempt > 0, o.epoch, r.epoch), "
    "IF(o.attempt > 0, o.dispatched_ms, r.dispatched_ms), r.started_ms, r.ended_ms, "
    "IF(o.attempt > 0, NULL, r.not_before_ms), IF(o.attempt > 0, 0, r.cancel_asked), r.losses";
#define ROTA_OUTCOME                                                                     \
  "outcome_state, outcome_reason, exit_status, signal_number, message, result, "         \
  "outcome_started_ms, outcome_ended_ms, stdout_bytes, stderr_bytes, cpu_us, peak_memory_bytes, " \
  "read_bytes, written_bytes, still_from_ms, still_to_ms"
#define ROTA_YOUNG "state, reason, attempt, worker_id, worker_incarnation, epoch, dispatched_ms"
#define ROTA_SET_ATTEMPT                                                                       \
  "attempt = VALUES(attempt), worker_id = VALUES(worker_id), "                                 \
  "worker_incarnation = VALUES(worker_incarnation), epoch = VALUES(epoch), "                   \
  "dispatched_ms = VALUES(dispatched_ms), started_ms = VALUES(started_ms), "                   \
  "ended_ms = VALUES(ended_ms)"
#define ROTA_SET_PROGRESS                                                                      \
  "state = VALUES(state), reason = VALUES(reason), detail = VALUES(detail), " ROTA_SET_ATTEMPT \
  ", not_before_ms = VALUES(not_before_ms), "                                                  \
  "cancel_asked = VALUES(cancel_asked), losses = VALUES(losses)"
#define ROTA_SET_MEASURES                                                                      \
  "outcome_started_ms = VALUES(outcome_started_ms), " ROTA_SET_SPENT
#define ROTA_SET_SPENT                                                                         \
  "outcome_ended_ms = VALUES(outcome_ended_ms), stdout_bytes = VALUES(stdout_bytes), "         \
  "stderr_bytes = VALUES(stderr_bytes), cpu_us = VALUES(cpu_us), "                             \
  "peak_memory_bytes = VALUES(peak_memory_bytes), read_bytes = VALUES(read_bytes), "           \
  "written_bytes = VALUES(written_bytes)"
#define ROTA_SET_OUTCOME                                                                       \
  "outcome_state = VALUES(outcome_state), outcome_reason = VALUES(outcome_reason), "           \
  "exit_status = VALUES(exit_status), signal_number = VALUES(signal_number), "                 \
  "message = VALUES(message), result = VALUES(result), " ROTA_SET_MEASURES                     \
  ", still_from_ms = VALUES(still_from_ms), still_to_ms = VALUES(still_to_ms)"
#define ROTA_SUCCESS                                                                            \
  "attempt, worker_id, worker_incarnation, epoch, dispatched_ms, started_ms, ended_ms, "        \
  "exit_status, outcome_started_ms, outcome_ended_ms, stdout_bytes, stderr_bytes, cpu_us, "     \
  "peak_memory_bytes, read_bytes, written_bytes"
#define ROTA_SET_SUCCESS                                                                        \
  "state = VALUES(state), reason = VALUES(reason), detail = '', " ROTA_SET_ATTEMPT              \
  ", not_before_ms = NULL, cancel_asked = 0, losses = 0, outcome_state = VALUES(state), "       \
  "outcome_reason = VALUES(reason), exit_status = VALUES(exit_status), signal_number = 0, "     \
  "message = '', result = '', " ROTA_SET_MEASURES ", still_from_ms = NULL, still_to_ms = NULL"
#define ROTA_NO_OUTCOME                                                                          \
  "outcome_state = NULL, outcome_reason = NULL, exit_status = NULL, signal_number = NULL, "      \
  "message = NULL, result = NULL, outcome_started_ms = NULL, outcome_ended_ms = NULL, "          \
  "stdout_bytes = NULL, stderr_bytes = NULL, cpu_us = NULL, peak_memory_bytes = NULL, "         \
  "read_bytes = NULL, written_bytes = NULL, still_from_ms = NULL, still_to_ms = NULL"
#define ROTA_ATTEMPT \
  "run_id, attempt, worker_id, worker_incarnation, epoch, dispatched_ms, late"

constexpr std::size_t kDetailBytes = 1000;
constexpr std::size_t kMessageBytes = 4096;

/// "a, b" becomes "r.a, r.b".
std::string with_alias(std::string_view columns) {
  std::string out = "r.";
  for (const char c : columns) {
    out += c;
    if (c == ' ') out += "r.";
  }
  return out;
}

std::string unfinished_states() {
  std::string out;
  for (int i = 0; i <= static_cast<int>(model::RunState::Skipped); ++i) {
    const auto state = static_cast<model::RunState>(i);
    if (!model::is_final(state)) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", name_of(state));
  }
  return out;
}

tl::unexpected<Error> unknown_name(std::string_view column, const std::string& found) {
  return fail(ErrorCode::Corrupt,
              fmt::format("the store holds {} '{}', which this program does not know", column, found));
}

Result<model::Outcome> read_outcome(Row& row) {
  model::Outcome outcome;
  const std::string state = row.text();
  const std::string reason = row.text();
  outcome.exit_status = static_cast<std::int32_t>(row.maybe_integer().value_or(-1));
  outcome.signal = static_cast<std::int32_t>(row.integer());
  outcome.message = row.text();
  outcome.result = row.text();
  outcome.started = row.time();
  outcome.ended = row.time();
  outcome.stdout_bytes = row.integer();
  outcome.stderr_bytes = row.integer();
  outcome.cpu_us = row.maybe_integer();
  outcome.peak_memory_bytes = row.maybe_integer();
  outcome.read_bytes = row.maybe_integer();
  outcome.written_bytes = row.maybe_integer();
  const auto still_from = row.maybe_time();
  const auto still_to = row.maybe_time();
  if (still_from && still_to) outcome.stood_still = {*still_from, *still_to};
  if (state.empty()) return model::Outcome{};
  const auto named_state = model::run_state_named(state);
  const auto named_reason = model::reason_named(reason);
  if (!named_state) return unknown_name("outcome_state", state);
  if (!named_reason) return unknown_name("outcome_reason", reason);
  outcome.state = *named_state;
  outcome.reason = *named_reason;
  return outcome;
}

Result<model::RunProgress> read_progress(Row& row) {
  model::RunProgress progress;
  const std::string state = row.text();
  const std::string reason = row.text();
  const auto named_state = model::run_state_named(state);
  const auto named_reason = model::reason_named(reason);
  if (!named_state) return unknown_name("state", state);
  if (!named_reason) return unknown_name("reason", reason);
  progress.state = *named_state;
  progress.reason = *named_reason;
  progress.detail = row.text();
  progress.reason = reason_in_row(progress.reason, progress.detail);
  progress.attempt = static_cast<AttemptNo>(row.integer());
  progress.worker.id = row.text();
  progress.worker.incarnation = row.text();
  progress.epoch = Epoch{row.integer()};
  progress.dispatched = row.maybe_time();
  progress.started = row.maybe_time();
  progress.ended = row.maybe_time();
  progress.not_before = row.maybe_time();
  progress.cancel_asked = row.integer() != 0;
  progress.losses = static_cast<std::int32_t>(row.integer());
  auto outcome = read_outcome(row);
  if (!outcome) return fail(outcome.error());
  progress.outcome = std::move(*outcome);
  return progress;
}

void bind_attempt_columns(Binder& binder, const model::RunProgress& progress) {
  binder.integer(progress.attempt)
      .text(progress.worker.id)
      .text(progress.worker.incarnation)
      .integer(progress.epoch.value)
      .time(progress.dispatched);
}

void bind_progress_columns(Binder& binder, const model::RunProgress& progress) {
  binder.text(name_of(progress.state)).text(stored_name(progress.reason));
  binder.prose(progress.detail, kDetailBytes);
  bind_attempt_columns(binder, progress);
  binder.time(progress.started)
      .time(progress.ended)
      .time(progress.not_before)
      .integer(progress.cancel_asked ? 1 : 0)
      .integer(progress.losses);
}

}  // namespace

const std::string kRunColumns =
    fmt::format("{}, {}, {}", with_alias(ROTA_FIXED), kProgressOfBoth, with_alias(ROTA_OUTCOME));
const std::string kAttemptColumns = ROTA_ATTEMPT ", " ROTA_OUTCOME;
const std::string kUnfinishedStates = unfinished_states();

const MultiRow kInsertRuns{"INSERT INTO run (" ROTA_FIXED ", " ROTA_PROGRESS ") VALUES", 25,
                           "ON DUPLICATE KEY UPDATE run_id = run_id"};
const MultiRow kInsertYoungRuns{"INSERT INTO run (" ROTA_FIXED ", " ROTA_YOUNG ") VALUES", 19,
                                "ON DUPLICATE KEY UPDATE run_id = run_id"};
const MultiRow kInsertBareRuns{"INSERT INTO run (" ROTA_BARE ", state, reason) VALUES", 13,
                               "ON DUPLICATE KEY UPDATE run_id = run_id"};
const MultiRow kUpdateRuns{"INSERT INTO run (run_id, " ROTA_PROGRESS ") VALUES", 14,
                           "ON DUPLICATE KEY UPDATE " ROTA_SET_PROGRESS ", " ROTA_NO_OUTCOME};
const MultiRow kUpdateRunsWithOutcome{
    "INSERT INTO run (run_id, " ROTA_PROGRESS ", " ROTA_OUTCOME ") VALUES", 30,
    "ON DUPLICATE KEY UPDATE " ROTA_SET_PROGRESS ", " ROTA_SET_OUTCOME};
const MultiRow kUpdateSucceededRuns{
    "INSERT INTO run (run_id, " ROTA_SUCCESS ", state, reason) VALUES", 17,
    "ON DUPLICATE KEY UPDATE " ROTA_SET_SUCCESS, ", 'succeeded', 'none'"};
#define ROTA_SET_ALIKE_SUCCESS                                                                            \
  "ON DUPLICATE KEY UPDATE state = 'succeeded', reason = 'none', detail = '', attempt = ?, worker_id = ?, " \
  "worker_incarnation = ?, epoch = ?, exit_status = ?, dispatched_ms = VALUES(dispatched_ms), "             \
  "started_ms = VALUES(started_ms), ended_ms = VALUES(ended_ms), not_before_ms = NULL, cancel_asked = 0, "  \
  "losses = 0, outcome_state = 'succeeded', outcome_reason = 'none', signal_number = 0, message = '', "     \
  "result = '', outcome_started_ms = VALUES(started_ms), still_from_ms = NULL, still_to_ms = NULL, "
const AlikeForm kAlikeSuccesses{
    "INSERT INTO run (run_id, dispatched_ms, started_ms, ended_ms, outcome_ended_ms, stdout_bytes, "
    "stderr_bytes, cpu_us, peak_memory_bytes, read_bytes, written_bytes, state, reason) VALUES",
    11, ROTA_SET_ALIKE_SUCCESS ROTA_SET_SPENT, bind_set_alike_success, bind_alike_success};
const AlikeForm kAlikeCosts{
    "INSERT INTO run (run_id, dispatched_ms, started_ms, ended_ms, state, reason) VALUES", 4,
    ROTA_SET_ALIKE_SUCCESS
    "outcome_ended_ms = VALUES(ended_ms), stdout_bytes = ?, stderr_bytes = ?, cpu_us = ?, "
    "peak_memory_bytes = ?, read_bytes = ?, written_bytes = ?",
    bind_set_alike_costs, bind_alike_costs};
const std::string kDispatchApart =
    "UPDATE run_open SET attempt = ?, worker_id = ?, worker_incarnation = ?, epoch = ?, dispatched_ms = ? "
    "WHERE run_id IN ";
const std::string kUpdateRunsAlike =
    "UPDATE run SET state = ?, reason = ?, detail = ?, attempt = ?, worker_id = ?, "
    "worker_incarnation = ?, epoch = ?, dispatched_ms = ?, started_ms = ?, ended_ms = ?, "
    "not_before_ms = ?, cancel_asked = ?, losses = ?, " ROTA_NO_OUTCOME " WHERE run_id IN ";
const MultiRow kUpsertAttempts{
    "INSERT INTO attempt (" ROTA_ATTEMPT ", " ROTA_OUTCOME ") VALUES", 23,
    "ON DUPLICATE KEY UPDATE worker_id = VALUES(worker_id), "
    "worker_incarnation = VALUES(worker_incarnation), epoch = VALUES(epoch), "
    "dispatched_ms = COALESCE(VALUES(dispatched_ms), dispatched_ms), late = VALUES(late), " ROTA_SET_OUTCOME};
const MultiRow kUpsertNotes{
    "INSERT INTO run_note (run_id, attempt, said_ms, percent, progress_text, checkpoint_attempt, "
    "checkpoint_ms, checkpoint) VALUES", 8,
    "ON DUPLICATE KEY UPDATE attempt = VALUES(attempt), said_ms = VALUES(said_ms), "
    "progress_text = COALESCE(VALUES(progress_text), progress_text), "
    "percent = COALESCE(VALUES(percent), percent), "
    "checkpoint_attempt = COALESCE(VALUES(checkpoint_attempt), checkpoint_attempt), "
    "checkpoint_ms = COALESCE(VALUES(checkpoint_ms), checkpoint_ms), "
    "checkpoint = COALESCE(VALUES(checkpoint), checkpoint)"};
const MultiRow kInsertGaps{
    "INSERT INTO gap (job_id, job_version, from_ms, to_ms, tick_count, reason, reference, epoch) VALUES",
    8, "ON DUPLICATE KEY UPDATE job_id = job_id"};

void bind_note(Binder& binder, const model::RunNote& note) {
  binder.integer(note.run.value).integer(note.attempt).time(note.said);
  if (note.percent) {
    binder.integer(*note.percent).prose(note.text, 200);
  } else {
    binder.null().null();
  }
  if (note.checkpoint) {
    binder.integer(note.attempt).time(note.said).text(*note.checkpoint);
  } else {
    binder.null().null().null();
  }
}

Result<model::RunNote> read_note(Row& row) {
  model::RunNote note;
  note.run = RunId{row.integer()};
  note.attempt = static_cast<AttemptNo>(row.integer());
  note.said = row.time();
  if (const auto percent = row.maybe_integer()) note.percent = static_cast<std::int32_t>(*percent);
  note.text = row.text();
  note.checkpoint_attempt = static_cast<AttemptNo>(row.integer());
  note.checkpoint_said = row.time();
  note.checkpoint = row.maybe_text();
  return note;
}

namespace {

void bind_bare_columns(Binder& binder, const model::Run& run) {
  binder.integer(run.id.value)
      .text(run.space)
      .text(run.principal)
      .integer(run.job.value)
      .integer(run.version)
      .text(name_of(run.kind))
      .time(run.tick)
      .time(run.scheduled)
      .time(run.recorded)
      .text_or_null(run.request_key)
      .text(run.request_hash);
}

void bind_fixed_columns(Binder& binder, const model::Run& run, const std::string* parameters_json) {
  bind_bare_columns(binder, run);
  parameters_json != nullptr ? binder.text(*parameters_json) : binder.null();
}

void bind_costs(Binder& binder, const model::Outcome& outcome) {
  binder.integer(outcome.stdout_bytes).integer(outcome.stderr_bytes);
  for (const auto& cost :
       {outcome.cpu_us, outcome.peak_memory_bytes, outcome.read_bytes, outcome.written_bytes}) {
    cost ? binder.integer(*cost) : binder.null();
  }
}

/// From when the attempt ended to what it wrote.
void bind_spent(Binder& binder, const model::Outcome& outcome) {
  binder.time(outcome.ended);
  bind_costs(binder, outcome);
}

void bind_measures(Binder& binder, const model::Outcome& outcome) {
  binder.time(outcome.started);
  bind_spent(binder, outcome);
}

}  // namespace

bool is_young(const model::RunProgress& progress) {
  return progress.detail.empty() && !progress.started && !progress.ended && !progress.not_before &&
         !progress.cancel_asked && progress.losses == 0;
}

void bind_new_run(Binder& binder, const model::Run& run, const std::string* parameters_json) {
  bind_fixed_columns(binder, run, parameters_json);
  bind_progress_columns(binder, run.progress);
}

void bind_young_run(Binder& binder, const model::Run& run, const std::string* parameters_json) {
  bind_fixed_columns(binder, run, parameters_json);
  binder.text(name_of(run.progress.state)).text(name_of(run.progress.reason));
  bind_attempt_columns(binder, run.progress);
}

bool is_bare(const model::Run& run) {
  const model::RunProgress& p = run.progress;
  return is_young(p) && p.attempt == 0 && p.worker == model::WorkerKey{} && p.epoch == Epoch{} &&
         !p.dispatched && !run.parameters;
}

void bind_bare_run(Binder& binder, const model::Run& run) {
  bind_bare_columns(binder, run);
  binder.text(name_of(run.progress.state)).text(name_of(run.progress.reason));
}

bool is_plain_success(const model::RunProgress& progress) {
  const model::Outcome& outcome = progress.outcome;
  return progress.state == model::RunState::Succeeded && progress.reason == model::Reason::None &&
         progress.detail.empty() && !progress.not_before && !progress.cancel_asked &&
         progress.losses == 0 && outcome.state == model::RunState::Succeeded &&
         outcome.reason == model::Reason::None && outcome.signal == 0 && outcome.message.empty() &&
         outcome.result.empty() && !outcome.stood_still;
}

void bind_success(Binder& binder, RunId id, const model::RunProgress& progress) {
  binder.integer(id.value);
  bind_attempt_columns(binder, progress);
  binder.time(progress.started).time(progress.ended).integer(progress.outcome.exit_status);
  bind_measures(binder, progress.outcome);
}

bool has_one_start(const model::RunProgress& progress) {
  return progress.started == progress.outcome.started;
}

void bind_set_alike_success(Binder& binder, const model::RunProgress& progress) {
  binder.integer(progress.attempt)
      .text(progress.worker.id)
      .text(progress.worker.incarnation)
      .integer(progress.epoch.value)
      .integer(progress.outcome.exit_status);
}

void bind_alike_success(Binder& binder, RunId id, const model::RunProgress& progress) {
  binder.integer(id.value).time(progress.dispatched).time(progress.started).time(progress.ended);
  bind_spent(binder, progress.outcome);
}

bool has_one_end(const model::RunProgress& progress) { return progress.ended == progress.outcome.ended; }

void bind_set_alike_costs(Binder& binder, const model::RunProgress& progress) {
  bind_set_alike_success(binder, progress);
  bind_costs(binder, progress.outcome);
}

void bind_alike_costs(Binder& binder, RunId id, const model::RunProgress& progress) {
  binder.integer(id.value).time(progress.dispatched).time(progress.started).time(progress.ended);
}

bool is_first_dispatch(const model::RunProgress& progress) {
  return progress.state == model::RunState::Dispatched && progress.reason == model::Reason::None &&
         progress.attempt == 1 && is_young(progress);
}

void bind_first_dispatch(Binder& binder, const model::RunProgress& progress) {
  bind_attempt_columns(binder, progress);
}

void bind_progress_alike(Binder& binder, const model::RunProgress& progress) {
  bind_progress_columns(binder, progress);
}

void bind_progress(Binder& binder, RunId id, const model::RunProgress& progress) {
  binder.integer(id.value);
  bind_progress_columns(binder, progress);
}

void bind_outcome(Binder& binder, const model::Outcome& outcome) {
  if (!has_outcome(outcome)) {
    for (int i = 0; i < 16; ++i) binder.null();
    return;
  }
  binder.text(name_of(outcome.state))
      .text(name_of(outcome.reason))
      .integer(outcome.exit_status)
      .integer(outcome.signal)
      .prose(outcome.message, kMessageBytes)
      .text(outcome.result);
  bind_measures(binder, outcome);
  const auto& still = outcome.stood_still;
  binder.time(still ? std::optional(still->from) : std::nullopt)
      .time(still ? std::optional(still->to) : std::nullopt);
}

void bind_attempt(Binder& binder, const model::AttemptRow& attempt) {
  binder.integer(attempt.run.value)
      .integer(attempt.attempt)
      .text(attempt.worker.id)
      .text(attempt.worker.incarnation)
      .integer(attempt.epoch.value)
      .time(attempt.dispatched)
      .integer(attempt.late ? 1 : 0);
  bind_outcome(binder, attempt.outcome);
}

void bind_gap(Binder& binder, const model::Gap& gap) {
  binder.integer(gap.job.value)
      .integer(gap.version)
      .time(gap.from)
      .time(gap.to)
      .integer(gap.count)
      .text(stored_name(gap.reason))
      .integer(stored_reference(gap))
      .integer(gap.epoch.value);
}

Result<model::Run> read_run(Row& row) {
  model::Run run;
  run.id = RunId{row.integer()};
  run.space = row.text();
  run.principal = row.text();
  run.job = JobId{row.integer()};
  run.version = static_cast<JobVersion>(row.integer());
  const std::string kind = row.text();
  const auto named = model::run_kind_named(kind);
  if (!named) return unknown_name("kind", kind);
  run.kind = *named;
  run.tick = row.maybe_time();
  run.scheduled = row.time();
  run.recorded = row.time();
  run.request_key = row.text();
  run.request_hash = row.text();
  if (const auto json = row.maybe_text()) {
    auto texts = wire::texts_from_json(*json);
    if (!texts) return fail(texts.error());
    run.parameters = std::make_shared<const model::Parameters>(std::move(*texts));
  }
  auto progress = read_progress(row);
  if (!progress) return fail(progress.error());
  run.progress = std::move(*progress);
  return run;
}

Result<model::AttemptRow> read_attempt(Row& row) {
  model::AttemptRow attempt;
  attempt.run = RunId{row.integer()};
  attempt.attempt = static_cast<AttemptNo>(row.integer());
  attempt.worker.id = row.text();
  attempt.worker.incarnation = row.text();
  attempt.epoch = Epoch{row.integer()};
  attempt.dispatched = row.maybe_time();
  attempt.late = row.integer() != 0;
  auto outcome = read_outcome(row);
  if (!outcome) return fail(outcome.error());
  attempt.outcome = std::move(*outcome);
  return attempt;
}

Result<model::Gap> read_gap(Row& row) {
  model::Gap gap;
  gap.job = JobId{row.integer()};
  gap.version = static_cast<JobVersion>(row.integer());
  gap.from = row.time();
  gap.to = row.time();
  gap.count = row.integer();
  const std::string reason = row.text();
  const auto named = model::reason_named(reason);
  if (!named) return unknown_name("reason", reason);
  gap.reason = *named;
  gap.reference = row.integer();
  gap.epoch = Epoch{row.integer()};
  restore_gap(gap);
  return gap;
}

std::string run_numbers(const std::vector<RunId>& runs) {
  std::string text;
  for (const RunId run : runs) text += (text.empty() ? "" : ",") + std::to_string(run.value);
  return text.empty() ? "0" : text;
}

}  // namespace rota::master::store
