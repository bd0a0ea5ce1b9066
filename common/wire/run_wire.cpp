#include "common/wire/run_wire.h"

#include <fmt/format.h>

#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

std::optional<WallTime> moment(bool is_set, std::int64_t ms) {
  if (!is_set) return std::nullopt;
  return wall_from_ms(ms);
}

bool is_out_of_range(const thrift::Outcome& in) {
  return in.exit_status < -1 || in.exit_status > 255 || in.signal < 0 || in.signal > 128 ||
         in.stdout_bytes < 0 || in.stderr_bytes < 0 || in.cpu_us < 0 || in.peak_memory_bytes < 0 ||
         in.read_bytes < 0 || in.written_bytes < 0 ||
         in.started_ms < 0 || in.ended_ms < 0 || in.stood_still_from_ms < 0 ||
         in.stood_still_to_ms < in.stood_still_from_ms;
}

std::string cut(std::string_view message) { return std::string(cut_text(message, kMaxMessageBytes)); }

}  // namespace

thrift::WorkerKey to_wire(const model::WorkerKey& key) {
  thrift::WorkerKey out;
  out.__set_id(key.id);
  out.__set_incarnation(key.incarnation);
  return out;
}

model::WorkerKey from_wire(const thrift::WorkerKey& key) { return {key.id, key.incarnation}; }

thrift::AttemptKey to_wire(const model::AttemptKey& key) {
  thrift::AttemptKey out;
  out.__set_run(key.run.value);
  out.__set_attempt(key.attempt);
  return out;
}

model::AttemptKey from_wire(const thrift::AttemptKey& key) {
  return {RunId{key.run}, key.attempt};
}

bool is_known(const thrift::Outcome& outcome, std::int32_t unknown) {
  return !outcome.__isset.unknown_costs || (outcome.unknown_costs & unknown) == 0;
}

thrift::Outcome to_wire(const model::Outcome& outcome) {
  thrift::Outcome out;
  out.__set_state(text(model::name_of(outcome.state)));
  out.__set_reason(text(model::name_of(outcome.reason)));
  out.__set_exit_status(outcome.exit_status);
  out.__set_signal(outcome.signal);
  out.__set_message(outcome.message);
  out.__set_result(outcome.result);
  out.__set_started_ms(to_ms(outcome.started));
  out.__set_ended_ms(to_ms(outcome.ended));
  out.__set_stdout_bytes(outcome.stdout_bytes);
  out.__set_stderr_bytes(outcome.stderr_bytes);
  out.__set_cpu_us(outcome.cpu_us.value_or(0));
  out.__set_peak_memory_bytes(outcome.peak_memory_bytes.value_or(0));
  out.__set_read_bytes(outcome.read_bytes.value_or(0));
  out.__set_written_bytes(outcome.written_bytes.value_or(0));
  const std::int32_t unknown = (outcome.cpu_us ? 0 : kCpuUnknown) |
                               (outcome.peak_memory_bytes ? 0 : kMemoryUnknown) |
                               (outcome.read_bytes ? 0 : kReadsUnknown) |
                               (outcome.written_bytes ? 0 : kWritesUnknown);
  if (unknown != 0) out.__set_unknown_costs(unknown);
  if (outcome.stood_still) {
    out.__set_stood_still_from_ms(to_ms(outcome.stood_still->from));
    out.__set_stood_still_to_ms(to_ms(outcome.stood_still->to));
  }
  return out;
}

Result<model::Outcome> from_wire(const thrift::Outcome& in) {
  const auto state = model::run_state_named(in.state);
  // A run is skipped by the leader; no attempt ends so.
  if (!state || !model::is_final(*state) || *state == model::RunState::Skipped) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("outcome.state: {} is no end of an attempt", quoted_text(in.state)));
  }
  if (is_out_of_range(in)) {
    return fail(ErrorCode::InvalidArgument, "outcome: a number is out of its range");
  }
  if (in.result.size() > kMaxResultBytes) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("outcome.result: {} bytes, at most 65536 are kept", in.result.size()));
  }
  model::Outcome out;
  out.state = *state;
  out.reason = model::reason_named(in.reason).value_or(model::Reason::None);
  out.exit_status = in.exit_status;
  out.signal = in.signal;
  out.message = cut(in.message);
  out.result = in.result;
  out.started = wall_from_ms(in.started_ms);
  out.ended = wall_from_ms(in.ended_ms);
  out.stdout_bytes = in.stdout_bytes;
  out.stderr_bytes = in.stderr_bytes;
  if (is_known(in, kCpuUnknown)) out.cpu_us = in.cpu_us;
  if (is_known(in, kMemoryUnknown)) out.peak_memory_bytes = in.peak_memory_bytes;
  if (is_known(in, kReadsUnknown)) out.read_bytes = in.read_bytes;
  if (is_known(in, kWritesUnknown)) out.written_bytes = in.written_bytes;
  if (in.__isset.stood_still_from_ms && in.__isset.stood_still_to_ms) {
    out.stood_still = {wall_from_ms(in.stood_still_from_ms), wall_from_ms(in.stood_still_to_ms)};
  }
  return out;
}

thrift::RunInfo to_wire(const model::Run& run, const std::string& job_name) {
  const model::RunProgress& at = run.progress;
  thrift::RunInfo out;
  out.__set_id(run.id.value);
  out.__set_job_id(run.job.value);
  out.__set_job_version(run.version);
  out.__set_job_name(job_name);
  out.__set_kind(text(model::name_of(run.kind)));
  out.__set_state(text(model::name_of(at.state)));
  out.__set_reason(text(model::name_of(at.reason)));
  out.__set_detail(at.detail);
  out.__set_scheduled_ms(to_ms(run.scheduled));
  out.__set_recorded_ms(to_ms(run.recorded));
  if (at.dispatched) out.__set_dispatched_ms(to_ms(*at.dispatched));
  if (at.started) out.__set_started_ms(to_ms(*at.started));
  if (at.ended) out.__set_ended_ms(to_ms(*at.ended));
  if (at.not_before) out.__set_not_before_ms(to_ms(*at.not_before));
  out.__set_attempt(at.attempt);
  out.__set_worker(to_wire(at.worker));
  out.__set_epoch(at.epoch.value);
  if (model::is_final(at.state)) out.__set_outcome(to_wire(at.outcome));
  if (run.parameters) out.__set_parameters(*run.parameters);
  out.__set_request_key(run.request_key);
  out.__set_principal(run.principal);
  out.__set_cancel_asked(at.cancel_asked);
  if (run.tick) out.__set_tick_ms(to_ms(*run.tick));
  if (at.losses > 0) out.__set_losses(at.losses);
  return out;
}

Result<model::Run> from_wire(const thrift::RunInfo& in) {
  const auto kind = model::run_kind_named(in.kind);
  const auto state = model::run_state_named(in.state);
  if (!kind || !state) {
    return fail(ErrorCode::Corrupt, fmt::format("run {}: unknown kind {} or state {}", in.id,
                                                quoted_text(in.kind), quoted_text(in.state)));
  }
  model::Run out;
  out.id = RunId{in.id};
  out.job = JobId{in.job_id};
  out.version = in.job_version;
  out.kind = *kind;
  out.principal = in.principal;
  out.tick = moment(in.__isset.tick_ms, in.tick_ms);
  out.scheduled = wall_from_ms(in.scheduled_ms);
  out.recorded = wall_from_ms(in.recorded_ms);
  out.request_key = in.request_key;
  if (!in.parameters.empty()) out.parameters = std::make_shared<const model::Parameters>(in.parameters);
  model::RunProgress& at = out.progress;
  at.state = *state;
  at.reason = model::reason_named(in.reason).value_or(model::Reason::None);
  at.detail = in.detail;
  at.attempt = in.attempt;
  at.worker = from_wire(in.worker);
  at.epoch = Epoch{in.epoch};
  at.dispatched = moment(in.__isset.dispatched_ms, in.dispatched_ms);
  at.started = moment(in.__isset.started_ms, in.started_ms);
  at.ended = moment(in.__isset.ended_ms, in.ended_ms);
  at.not_before = moment(in.__isset.not_before_ms, in.not_before_ms);
  at.cancel_asked = in.cancel_asked;
  if (in.__isset.losses) at.losses = in.losses;
  if (model::is_final(*state)) {
    auto outcome = from_wire(in.outcome);
    if (!outcome) return fail(ErrorCode::Corrupt, outcome.error().message);
    at.outcome = std::move(*outcome);
  }
  return out;
}

thrift::RunNote to_wire(const model::RunNote& note) {
  thrift::RunNote out;
  out.__set_attempt(note.attempt);
  out.__set_said_ms(to_ms(note.said));
  if (note.percent) out.__set_percent(*note.percent);
  if (note.percent) out.__set_text(note.text);
  if (note.checkpoint) out.__set_checkpoint(*note.checkpoint);
  out.__set_checkpoint_attempt(note.checkpoint_attempt);
  out.__set_checkpoint_ms(to_ms(note.checkpoint_said));
  return out;
}

thrift::AttemptInfo to_wire(const model::AttemptRow& attempt) {
  thrift::AttemptInfo out;
  out.__set_attempt(to_wire(model::AttemptKey{attempt.run, attempt.attempt}));
  out.__set_worker(to_wire(attempt.worker));
  out.__set_epoch(attempt.epoch.value);
  if (attempt.dispatched) out.__set_dispatched_ms(to_ms(*attempt.dispatched));
  out.__set_late(attempt.late);
  out.__set_outcome(to_wire(attempt.outcome));
  return out;
}

}  // namespace rota::wire
