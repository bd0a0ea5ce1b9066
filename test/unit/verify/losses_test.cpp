// P5: what followed attempts that were lost with their workers.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {

TEST_CASE("verify: a run that goes on after as many losses as its job allows is red") {
  History history = a_true_history();
  model::Run& run = history.run_of(at(5));
  SUBCASE("one more") { run.progress.losses = model::kLossMost + 1; }
  SUBCASE("and is to run again") {
    run.progress.losses = model::kLossMost;
    run.progress.state = model::RunState::Queued;
    run.progress.outcome = {};
    run.progress.ended.reset();
  }
  CHECK(red(look(history)) == "P5");
}

TEST_CASE("verify: losses that a job allows are green, and counted") {
  History history = a_true_history();
  history.run_of(at(5)).progress.losses = model::kLossMost - 1;
  model::RunProgress& ended = history.run_of(at(6)).progress;
  ended.losses = model::kLossMost;
  ended.state = ended.outcome.state = model::RunState::Lost;
  const Report report = look(history);
  CHECK(report.ok);
  CHECK(check_of(report, "P5").planned == 2);
}

TEST_CASE("verify: another attempt after a loss that forbids it is red") {
  History history = a_true_history();
  auto definition = *every(Millis{1000}, model::Overlap::Skip);
  definition.rules.loss = model::LossPolicy::Never;
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  model::AttemptRow lost = first_attempt_of(history.run_of(at(5)));
  lost.outcome.state = model::RunState::Lost;
  lost.outcome.reason = model::Reason::AttemptDied;
  SUBCASE("a loss") {
    history.rows.attempts.push_back(lost);
    CHECK(red(look(history)) == "P5");
  }
  SUBCASE("a failure is none") {
    lost.outcome.state = model::RunState::Failed;
    history.rows.attempts.push_back(lost);
    CHECK(look(history).ok);
  }
}

TEST_CASE("verify: another attempt before a loss was confirmed, where the job asks for that, is red") {
  History history = a_true_history();
  auto definition = *every(Millis{1000}, model::Overlap::Skip);
  definition.rules.loss = model::LossPolicy::Confirm;
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  model::AttemptRow lost = first_attempt_of(history.run_of(at(5)));
  lost.outcome.state = model::RunState::Lost;
  lost.outcome.reason = model::Reason::WorkerLost;
  lost.outcome.ended = at(5);
  model::WorkerDeath death{lost.worker, "me", "", Epoch{1}, at(4), {}};
  const char* expected = "P5";
  SUBCASE("nobody said anything") {}
  SUBCASE("of another life") {
    death.life.incarnation = "other";
    history.rows.deaths.push_back(death);
  }
  SUBCASE("too late") {
    death.confirmed = at(6);
    history.rows.deaths.push_back(death);
  }
  SUBCASE("in a later Term") {
    death.epoch = Epoch{2};
    history.rows.deaths.push_back(death);
  }
  SUBCASE("in time: green") {
    history.rows.deaths.push_back(death);
    expected = "";
  }
  SUBCASE("by the worker's own word: green") {
    lost.outcome.reason = model::Reason::AttemptDied;
    expected = "";
  }
  history.rows.attempts.push_back(lost);
  CHECK(red(look(history)) == expected);
}

}  // namespace rota::master::verify::test
