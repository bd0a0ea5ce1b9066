#include "test/contract/store/samples.h"

namespace rota::master::store::testing {

std::string nasty_text() {
  return std::string("it's \"quoted\" `so`'; DROP TABLE run; -- \\ % _ \n\t") + '\0' +
         "\xF0\x9F\xA6\x84 \xE4\xB8\xAD\xE6\x96\x87 end";
}

std::string binary_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

model::Job a_job(std::int64_t id, const std::string& name) {
  model::Job job;
  job.id = JobId{id};
  job.name = name;
  job.version = 1;
  job.created = wall_from_ms(kBase);
  job.changed = wall_from_ms(kBase + 1);
  return job;
}

model::JobVersionRow a_version(std::int64_t job, JobVersion version, const std::string& name) {
  model::JobDefinition definition;
  definition.name = name;
  definition.description = nasty_text();
  definition.labels = {{"team", "a"}, {"", nasty_text()}};
  definition.rules.schedule.kind = model::ScheduleKind::FixedRate;
  definition.rules.schedule.interval = Millis{1000};
  definition.rules.retry.count = 3;
  definition.rules.overlap = model::Overlap::Queue;
  definition.work.argv = {"/bin/echo", "'; DROP TABLE job; --", ""};
  definition.work.environment = {{"A", "b=c"}};
  model::JobVersionRow row;
  row.job = JobId{job};
  row.version = version;
  row.valid_from = wall_from_ms(kBase);
  row.anchor = wall_from_ms(kBase + 5);
  row.principal = "local";
  row.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  return row;
}

core::Changes new_job(std::int64_t id, const std::string& name) {
  core::Changes changes;
  changes.jobs = {a_job(id, name)};
  changes.versions = {a_version(id, 1, name)};
  return changes;
}

model::Run a_manual_run(std::int64_t id, std::int64_t job) {
  model::Run run;
  run.principal = "local";
  run.id = RunId{id};
  run.job = JobId{job};
  run.version = 1;
  run.kind = model::RunKind::Manual;
  run.scheduled = wall_from_ms(kBase + id);
  run.recorded = wall_from_ms(kBase + id + 1);
  run.progress.state = model::RunState::Dispatched;
  run.progress.attempt = 1;
  run.progress.worker = {"w1", "abcd"};
  run.progress.epoch = Epoch{1};
  run.progress.dispatched = wall_from_ms(kBase + id + 2);
  run.progress.losses = static_cast<std::int32_t>(id % 3);
  return run;
}

model::Run a_tick_run(std::int64_t id, std::int64_t job, std::int64_t tick_s) {
  model::Run run = a_manual_run(id, job);
  run.kind = model::RunKind::Tick;
  run.tick = wall_from_ms(kBase + tick_s * 1000);
  run.scheduled = *run.tick;
  return run;
}

model::Outcome full_outcome() {
  model::Outcome outcome;
  outcome.state = model::RunState::Failed;
  outcome.reason = model::Reason::ExitStatus;
  outcome.exit_status = 7;
  outcome.signal = 9;
  outcome.message = nasty_text();
  outcome.result = binary_bytes(64 * 1024);
  outcome.started = wall_from_ms(kBase + 10);
  outcome.ended = wall_from_ms(kBase + 20);
  outcome.stdout_bytes = 1ll << 40;
  outcome.stderr_bytes = 5;
  outcome.cpu_us = 123;
  outcome.peak_memory_bytes = 1ll << 33;
  outcome.read_bytes.reset();  // not known
  outcome.written_bytes = 1ll << 35;
  outcome.stood_still = model::StoodStill{outcome.ended - Millis{700}, outcome.ended - Millis{20}};
  return outcome;
}

core::RunUpdate succeeded(const model::Run& run) {
  core::RunUpdate update{run.id, run.progress};
  update.progress.state = model::RunState::Succeeded;
  update.progress.started = wall_from_ms(kBase + 100);
  update.progress.ended = wall_from_ms(kBase + 200);
  update.progress.outcome.state = model::RunState::Succeeded;
  update.progress.outcome.exit_status = 0;
  return update;
}

model::Gap a_gap(std::int64_t job, std::int64_t from_s, std::int64_t to_s) {
  model::Gap gap;
  gap.job = JobId{job};
  gap.version = 1;
  gap.from = wall_from_ms(kBase + from_s * 1000);
  gap.to = wall_from_ms(kBase + to_s * 1000);
  gap.count = to_s - from_s + 1;
  gap.reason = model::Reason::OverlapSkipped;
  gap.reference = 42;
  gap.epoch = Epoch{1};
  return gap;
}

#define SAME(field) \
  if (!(a.field == b.field)) return #field

std::string difference(const model::Run& a, const model::Run& b) {
  SAME(id); SAME(job); SAME(version); SAME(kind); SAME(space); SAME(principal); SAME(tick);
  SAME(scheduled); SAME(recorded); SAME(request_key); SAME(request_hash);
  if ((a.parameters == nullptr) != (b.parameters == nullptr)) return "parameters (null or not)";
  if (a.parameters && *a.parameters != *b.parameters) return "parameters";
  SAME(progress.state); SAME(progress.reason); SAME(progress.detail); SAME(progress.attempt);
  SAME(progress.worker); SAME(progress.epoch); SAME(progress.dispatched); SAME(progress.started);
  SAME(progress.ended); SAME(progress.not_before); SAME(progress.cancel_asked);
  SAME(progress.losses);
  SAME(progress.outcome);
  return "";
}

std::string difference(const model::Job& a, const model::Job& b) {
  SAME(id); SAME(space); SAME(name); SAME(version); SAME(state); SAME(one_off); SAME(state_by);
  SAME(state_why); SAME(created); SAME(changed); SAME(ticks_through);
  SAME(memory);
  return "";
}

std::string difference(const model::JobVersionRow& a, const model::JobVersionRow& b) {
  SAME(job); SAME(version); SAME(valid_from); SAME(valid_to); SAME(anchor); SAME(enabled);
  SAME(principal);
  if (!a.definition || !b.definition || *a.definition != *b.definition) return "definition";
  return "";
}

std::string difference(const model::AttemptRow& a, const model::AttemptRow& b) {
  SAME(run); SAME(attempt); SAME(worker); SAME(epoch); SAME(dispatched); SAME(late); SAME(outcome);
  return "";
}

std::string difference(const model::Gap& a, const model::Gap& b) {
  SAME(job); SAME(version); SAME(from); SAME(to); SAME(count); SAME(reason); SAME(reference);
  SAME(epoch);
  return "";
}

}  // namespace rota::master::store::testing
