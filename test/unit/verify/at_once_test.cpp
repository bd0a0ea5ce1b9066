// P4 where several runs of a job may live at once, and what is said of runs that gave way to others.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {

TEST_CASE("verify: as many runs at once as concurrency allows are fine, one more is red") {
  History history = a_true_history();
  model::JobDefinition definition = *every(Millis{1000}, model::Overlap::Queue);
  definition.rules.concurrency = 2;
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  history.run_of(at(5)).progress.outcome.ended = at(8);
  CHECK(red(look(history)) == "");  // beside each of the next two
  history.run_of(at(6)).progress.outcome.ended = at(8);
  const Report report = look(history);
  CHECK(red(report) == "P4");
  CHECK(check_of(report, "P4").examples[0].find("than the 2 that it allows") != std::string::npos);
  definition.rules.concurrency = 3;
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  CHECK(look(history).ok);
}

TEST_CASE("verify: a run that was replaced names a later one") {
  History history = a_true_history();
  model::RunProgress& progress = history.run_of(at(5)).progress;
  progress.state = model::RunState::Cancelled;
  progress.reason = model::Reason::ReplacedBy;
  progress.attempt = 0;
  progress.started = progress.dispatched = std::nullopt;
  progress.outcome = {};
  progress.detail = std::to_string(history.run_of(at(6)).id.value);
  CHECK(red(look(history)) == "");
  SUBCASE("an earlier one") { progress.detail = std::to_string(history.run_of(at(5)).id.value); }
  SUBCASE("none") { progress.detail = ""; }
  SUBCASE("words") { progress.detail = "cancelled by ann"; }
  CHECK(red(look(history)) == "P12");
}

}  // namespace rota::master::verify::test
