// P43: what a job expects, beside what was told.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

using model::ToldOnce;

model::LateRow told(RunId run, WallTime tick, ToldOnce what, const std::string& was = "running") {
  model::LateRow row;
  row.job = JobId{1};
  row.run = run;
  row.tick = tick;
  row.what = what;
  row.epoch = Epoch{1};
  row.due = tick;
  row.told = tick + Millis{60'000};
  row.was = was;
  return row;
}

model::LateRow term(std::int64_t epoch) {
  model::LateRow row;
  row.run = RunId{epoch};
  row.what = ToldOnce::Term;
  row.epoch = Epoch{epoch};
  row.told = at(0);
  return row;
}

/// Each run starts 20 ms after its tick and takes 200 ms; the gap is of Term 2.
History expecting(Millis start, const std::string& longer, bool second_tells = true) {
  History out = a_true_history();
  model::JobDefinition definition = *out.rows.versions[0].definition;
  definition.rules.expect_start_within = start;
  definition.rules.expect_longer_than = longer;
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  out.rows.late = {term(1)};
  if (second_tells) out.rows.late.push_back(term(2));
  return out;
}

}  // namespace

TEST_CASE("verify: what is not met is told once, and by a Term that tells") {
  History history = expecting(Millis{10'000}, "", false);
  CHECK(red(look(history)) == "");
  CHECK(check_of(look(history), "P43").planned == 8);
  history = expecting(Millis{10'000}, "");
  CHECK(red(look(history)) == "P43");  // the gap
  history.rows.late.push_back(told(RunId{}, at(9), ToldOnce::StartWithin, "overlap_skipped"));
  CHECK(red(look(history)) == "");
  history.run_of(at(5)).progress.dispatched = at(5) + Millis{15'000};
  history.run_of(at(5)).progress.started = history.run_of(at(5)).progress.outcome.started =
      at(5) + Millis{15'001};
  history.run_of(at(5)).progress.ended = history.run_of(at(5)).progress.outcome.ended = at(5) + Millis{15'002};
  CHECK(check_of(look(history), "P43").missing == 1);
  history.rows.late.push_back(told(history.run_of(at(5)).id, at(5), ToldOnce::StartWithin, "queued"));
  CHECK(check_of(look(history), "P43").ok);
}

TEST_CASE("verify: what was met is not told, unless nobody knew it then") {
  History history = expecting(Millis{}, "10s");
  const RunId run = history.run_of(at(5)).id;
  CHECK(red(look(history)) == "");
  history.rows.late.push_back(told(run, at(5), ToldOnce::LongerThan, "succeeded"));
  CHECK(red(look(history)) == "P43");
  history.rows.late.back().was = "running";
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: a start that was in time is not told, even while the run goes on") {
  History history = expecting(Millis{10'000}, "", false);
  const RunId run = history.run_of(at(5)).id;
  history.rows.late.push_back(told(run, at(5), ToldOnce::StartWithin, "running"));
  CHECK(red(look(history)) == "P43");
}

TEST_CASE("verify: a multiple of the usual length is recounted, as far as all successes are there") {
  History history = expecting(Millis{}, "3x");
  const auto end_at = [&](Millis after) {
    model::RunProgress& progress = history.run_of(at(20)).progress;
    progress.ended = progress.outcome.ended = at(20) + after;
  };
  CHECK(red(look(history)) == "");
  end_at(Millis{20 + 601});
  CHECK(red(look(history)) == "");  // who knows how many others there were
  history.rows.paces = {{JobId{1}, 16, {}}};
  CHECK(red(look(history)) == "P43");
  end_at(Millis{20 + 600});
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: where the clock was set back between two attempts, a late start may be told or not") {
  History history = expecting(Millis{10'000}, "", false);
  model::Run& run = history.run_of(at(5));
  const RunId id = run.id;
  model::AttemptRow first = first_attempt_of(run);
  first.outcome.state = model::RunState::Failed;
  first.dispatched = at(5) + Millis{15'000};
  history.rows.attempts.push_back(first);
  CHECK(check_of(look(history), "P43").ok);
  history.rows.late.push_back(told(id, at(5), ToldOnce::StartWithin, "succeeded"));
  history.rows.late.back().told = at(4);
  CHECK(check_of(look(history), "P43").ok);
}

TEST_CASE("verify: a length is not called untold when a run of a higher id ended first") {
  History history = expecting(Millis{}, "3x");
  history.rows.paces = {{JobId{1}, 16, {}}};
  model::RunProgress& slow = history.run_of(at(15)).progress;
  slow.ended = slow.outcome.ended = at(15) + Millis{20 + 601};
  CHECK(check_of(look(history), "P43").missing == 1);
  model::RunProgress& overtaking = history.run_of(at(20)).progress;
  overtaking.dispatched = overtaking.started = overtaking.outcome.started = at(15);
  overtaking.ended = overtaking.outcome.ended = at(15) + Millis{10};
  CHECK(check_of(look(history), "P43").ok);
}

TEST_CASE("verify: a run succeeds by the next such time in the job's zone") {
  History history = expecting(Millis{}, "", false);  // from 22:13:20 on
  model::JobDefinition definition = *history.rows.versions[0].definition;
  definition.rules.expect_finish_by = "22:14";
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  CHECK(red(look(history)) == "");
  model::RunProgress& progress = history.run_of(at(5)).progress;
  progress.state = progress.outcome.state = model::RunState::Failed;
  progress.outcome.exit_status = 3;
  CHECK(check_of(look(history), "P43").missing == 1);
}

TEST_CASE("verify: a tick is told as paused only where the job was") {
  History history = expecting(Millis{10'000}, "", false);
  history.rows.late.push_back(told(RunId{}, at(5), ToldOnce::StartWithin, std::string(model::kWasPaused)));
  CHECK(red(look(history)) == "P43");
  const WallTime watermark = at(20) + Millis{500};
  history.rewinds.push_back({Epoch{10}, watermark, watermark, at(6), {}, {}});
  CHECK_FALSE(check_of(look(history), "P43").ok);
  history.rewinds.back().to = at(4);  // a clock was ahead when it was told
  CHECK(check_of(look(history), "P43").ok);
}

}  // namespace rota::master::verify::test
