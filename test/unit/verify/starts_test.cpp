// P38: what starts of workers made, held against the entries that were in force.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/start_check.h"

namespace rota::master::verify::test {
namespace {

constexpr std::int64_t kNumber = (std::int64_t{1} << kIdCounterBits) + 100;

model::WorkerStart a_start(const std::string& worker, std::int64_t second, std::int64_t number) {
  return {{worker, "s" + std::to_string(number)}, "home", "default", at(second), kNumber + 10 * number};
}

model::Run run_of(const model::WorkerStart& start) {
  model::Run run = a_run(RunId{start.number + 1}, start.accepted);
  run.job = JobId{2};
  run.kind = model::RunKind::WorkerStart;
  run.tick.reset();
  run.principal = model::kStartPrincipal;
  run.request_key = model::start_key(run.job, start.key);
  run.progress.worker.id = start.key.worker;
  return run;
}

/// Beside the job of ticks one with @worker_start from second 2 on; two workers start at 5 and 6, the first
/// again at 15.
History a_history_of_starts() {
  History out = a_true_history();
  model::Job job = out.rows.jobs[0];
  job.id = JobId{2};
  job.name = "boot";
  out.rows.jobs.push_back(job);
  model::JobVersionRow version = out.rows.versions[0];
  version.job = job.id;
  version.valid_from = at(2);
  model::JobDefinition definition = *version.definition;
  definition.name = job.name;
  definition.rules.overlap = model::Overlap::Allow;
  definition.rules.schedule = {};
  definition.rules.schedule.kind = model::ScheduleKind::Entries;
  definition.rules.schedule.entries = {"worker_start"};
  version.definition = std::make_shared<const model::JobDefinition>(definition);
  out.rows.versions.push_back(version);
  out.rows.starts = {a_start("w1", 5, 1), a_start("w2", 6, 2), a_start("w1", 15, 3)};
  for (const model::WorkerStart& start : out.rows.starts) out.rows.new_runs.push_back(run_of(start));
  return out;
}

model::JobRules& rules_of(History& history) {
  auto copy = std::make_shared<model::JobDefinition>(*history.rows.versions.back().definition);
  history.rows.versions.back().definition = copy;
  return copy->rules;
}

}  // namespace

TEST_CASE("verify: starts with a run each are green, and counted") {
  const Report report = look(a_history_of_starts());
  CHECK(red(report) == "");
  CHECK(check_of(report, "P38").planned == 3);
}

TEST_CASE("verify: a start without its run is red") {
  History history = a_history_of_starts();
  history.rows.new_runs.pop_back();
  CHECK(red(look(history)) == "P38");
  CHECK(check_of(look(history), "P38").missing == 1);
}

TEST_CASE("verify: a start that its job was not there for, or not meant for, needs no run") {
  History history = a_history_of_starts();
  history.rows.new_runs.pop_back();
  model::JobVersionRow& version = history.rows.versions.back();
  SUBCASE("the job came later") {
    version.valid_from = at(16);
    history.rows.new_runs.pop_back();
    history.rows.new_runs.pop_back();
  }
  SUBCASE("it was paused then") { version.valid_to = at(14); }
  SUBCASE("another pool") { history.rows.starts.back().pool = "gpu"; }
  SUBCASE("another worker") {
    rules_of(history).route = model::RouteKind::Named;
    rules_of(history).worker = "w2";
  }
  SUBCASE("its entry was over") { rules_of(history).schedule.entries = {"worker_start; end 2023-11-14T22:13:30.000Z"}; }
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: runs of starts that contradict themselves are red") {
  History history = a_history_of_starts();
  model::Run& run = history.rows.new_runs.back();
  SUBCASE("on another worker") { run.progress.worker.id = "w2"; }
  SUBCASE("an earlier attempt on another worker") {
    model::AttemptRow row = first_attempt_of(run);
    row.worker.id = "w7";
    row.outcome.state = model::RunState::Failed;
    history.rows.attempts.push_back(row);
  }
  SUBCASE("of a start that nobody accepted") { history.rows.starts.pop_back(); }
  SUBCASE("of another moment") { run.scheduled = at(14); }
  SUBCASE("without a key") {
    run.request_key.clear();
    history.rows.starts.pop_back();
  }
  CHECK(red(look(history)) == "P38");
}

}  // namespace rota::master::verify::test
