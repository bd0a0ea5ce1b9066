// P40: attempts that follow what their job forbids.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

History a_history_with_retry(const model::RetryRule& rule) {
  History out = a_true_history();
  model::JobDefinition definition = *out.rows.versions[0].definition;
  definition.rules.retry = rule;
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  model::AttemptRow first = first_attempt_of(out.run_of(at(5)));
  first.outcome.state = model::RunState::Failed;
  first.outcome.reason = model::Reason::ExitStatus;
  first.outcome.exit_status = 2;
  out.rows.attempts.push_back(first);
  return out;
}

}  // namespace

TEST_CASE("verify: an attempt after an end that its job does not try again is red") {
  model::RetryRule rule;
  rule.count = 3;
  CHECK(red(look(a_history_with_retry(rule))) == "");
  SUBCASE("never") {
    rule.never = {"exit 2"};
    CHECK(red(look(a_history_with_retry(rule))) == "P40");
  }
  SUBCASE("another never") {
    rule.never = {"exit 3"};
    CHECK(red(look(a_history_with_retry(rule))) == "");
  }
  SUBCASE("not among those that only names") {
    rule.only = {"timed_out"};
    CHECK(red(look(a_history_with_retry(rule))) == "P40");
  }
  SUBCASE("it only said that it was not ready") {
    rule.only = {"timed_out"};
    rule.again = "exit 2; every 1m";
    CHECK(red(look(a_history_with_retry(rule))) == "");
  }
}

}  // namespace rota::master::verify::test
