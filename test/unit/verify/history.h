// A small true history in the memory store, and the means to spoil copies of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "master/store/memory/memory_store.h"
#include "master/verify/verify.h"

namespace rota::master::verify::test {

inline const WallTime kStart = wall_from_ms(1'700'000'000'000);

inline WallTime at(std::int64_t s) { return kStart + std::chrono::seconds{s}; }
inline RunId run_id(std::int64_t epoch, std::int64_t counter) {
  return RunId{(epoch << kIdCounterBits) + counter};
}

/// Rows to be stored, so that a test can change them first.
struct History {
  core::Changes rows;
  std::vector<store::LogChunk> logs;
  std::vector<RunId> pruned;
  std::map<JobId, WallTime> gone;  ///< told by retention, before verify looks
  std::vector<store::Rewind> rewinds;  ///< each in an office of its own, done last

  model::Run& run_of(WallTime tick) {
    for (model::Run& run : rows.new_runs) {
      if (run.tick == tick) return run;
    }
    throw std::runtime_error("no run of that tick");
  }
};

inline std::shared_ptr<const model::JobDefinition> every(Millis interval, model::Overlap overlap) {
  model::JobDefinition out;
  out.name = "job";
  out.rules.schedule.kind = model::ScheduleKind::FixedRate;
  out.rules.schedule.interval = interval;
  out.rules.overlap = overlap;
  out.work.argv = {"/bin/true"};
  return std::make_shared<const model::JobDefinition>(std::move(out));
}

inline model::Run a_run(RunId id, WallTime tick) {
  model::Run out;
  out.id = id;
  out.job = JobId{1};
  out.version = 1;
  out.tick = tick;
  out.scheduled = tick;
  out.recorded = tick + Millis{20};
  model::RunProgress& progress = out.progress;
  progress.state = model::RunState::Succeeded;
  progress.attempt = 1;
  progress.worker = {"w", "i"};
  progress.epoch = Epoch{id.value >> kIdCounterBits};
  progress.dispatched = out.recorded;
  progress.started = out.recorded + Millis{5};
  progress.ended = out.recorded + Millis{200};
  progress.outcome.state = model::RunState::Succeeded;
  progress.outcome.reason = model::Reason::ExitStatus;
  progress.outcome.exit_status = 0;
  progress.outcome.started = *progress.started;
  progress.outcome.ended = *progress.ended;
  return out;
}

/// One job every second for 20 s: ticks 1 to 8 in epoch 1, 9 to 12 in a gap row, 13 to 20 in epoch 2.
inline History a_true_history() {
  History out;
  model::Job job;
  job.id = JobId{1};
  job.name = "job";
  job.version = 1;
  job.created = job.changed = kStart;
  out.rows.jobs.push_back(job);
  model::JobVersionRow version;
  version.job = job.id;
  version.version = 1;
  version.valid_from = kStart;
  version.anchor = kStart;
  version.definition = every(Millis{1000}, model::Overlap::Skip);
  out.rows.versions.push_back(version);
  for (int s = 1; s <= 8; ++s) out.rows.new_runs.push_back(a_run(run_id(1, s), at(s)));
  for (int s = 13; s <= 20; ++s) out.rows.new_runs.push_back(a_run(run_id(2, s), at(s)));
  out.rows.gaps.push_back(
      {JobId{1}, 1, at(9), at(12), 4, model::Reason::OverlapSkipped, 0, Epoch{2}});
  out.rows.watermark = at(20) + Millis{500};
  return out;
}

/// Makes the run's attempt its second, and gives the first, on the same worker and without an outcome.
inline model::AttemptRow first_attempt_of(model::Run& run) {
  run.progress.attempt = 2;
  model::AttemptRow out;
  out.run = run.id;
  out.attempt = 1;
  out.epoch = Epoch{1};
  out.worker = run.progress.worker;
  return out;
}

inline Report look_in(store::MemoryStore& memory, const History& history, Request request = {}) {
  (void)memory.enter_office(Epoch{9}, "test");
  const auto applied = memory.apply(Epoch{9}, history.rows);
  if (applied.outcome != store::ApplyOutcome::Applied) throw std::runtime_error(applied.detail);
  if (!history.logs.empty() && !memory.append(history.logs)) throw std::runtime_error("logs");
  (void)memory.note_pruned(history.pruned, at(50));
  (void)memory.forget_through(history.gone);
  for (const store::Rewind& rewind : history.rewinds) {
    (void)memory.enter_office(rewind.epoch, "test");
    if (!memory.rewind(rewind)) throw std::runtime_error("rewind");
  }
  if (!request.now) request.now = at(100);
  const Sources sources{memory, &memory, [](std::string_view) {
                          return Result<std::shared_ptr<const model::ZoneRules>>(
                              std::make_shared<const model::ZoneRules>());
                        }};
  auto report = verify(sources, request, BootClock::now() + std::chrono::seconds{600});
  if (!report) throw std::runtime_error(report.error().message);
  return *report;
}

inline Report look(const History& history, Request request = {}) {
  store::MemoryStore memory;
  return look_in(memory, history, std::move(request));
}

inline const Check& check_of(const Report& report, const std::string& promise) {
  for (const Check& check : report.checks) {
    if (check.promise == promise) return check;
  }
  throw std::runtime_error("no such promise: " + promise);
}

/// The promises that are red, in order: "P1 P7".
inline std::string red(const Report& report) {
  std::string out;
  for (const Check& check : report.checks) {
    if (!check.ok) out += (out.empty() ? "" : " ") + check.promise;
  }
  return out;
}

}  // namespace rota::master::verify::test
