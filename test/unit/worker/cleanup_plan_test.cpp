#include "worker/run/cleanup_plan.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace rota::worker::run {

namespace {

desk::Order an_order() {
  desk::Order order;
  order.key = {RunId{12}, 3};
  order.space = "team";
  order.work.cleanup = {"docker", "rm", "rota-{{run}}-{{attempt}}", "{{param.who}}"};
  order.parameters = {{"who", "me"}};
  return order;
}

warden::Start a_command() {
  warden::Start start;
  start.key = {RunId{12}, 3};
  start.argv = {"job"};
  start.environment = {"PATH=/bin", "ROTA_FD=3", "ROTA_CHECKPOINT=x", "ROTA_RUN_ID=12"};
  start.user = warden::User{7, 8, {}};
  start.timeout = Millis{5};
  start.disconnect_grace = Millis{6};
  start.progress = true;
  start.most_processes = 4;
  start.space = "team";
  start.note = "note";
  return start;
}

warden::Ended an_end(int exit_status) {
  warden::Ended ended;
  ended.exit_status = exit_status;
  ended.proven_empty = true;
  return ended;
}

}  // namespace

TEST_CASE("cleanup_plan: runs as the attempt does, for a minute, without a voucher") {
  const auto start = plan_cleanup(an_order(), a_command());
  REQUIRE(start);
  CHECK(start->argv == std::vector<std::string>{"docker", "rm", "rota-12-3", "me"});
  CHECK(start->environment == std::vector<std::string>{"PATH=/bin", "ROTA_RUN_ID=12"});
  CHECK(start->timeout == Millis{60'000});
  CHECK(start->may_start_unvouched);
  CHECK(start->disconnect_grace == warden::kNoVoucherNeeded);
  CHECK(start->user == warden::User{7, 8, {}});
  CHECK(!start->progress);
  CHECK(start->most_processes == 0);
  CHECK(start->note == "note");
}

TEST_CASE("cleanup_plan: its key is the attempt's, and no attempt has it") {
  const warden::AttemptKey key = cleanup_key({RunId{12}, 3});
  CHECK(is_cleanup(key));
  CHECK(!is_cleanup({RunId{12}, 3}));
  CHECK(attempt_of(key) == model::AttemptKey{RunId{12}, 3});
  CHECK(attempt_of({RunId{12}, 3}) == model::AttemptKey{RunId{12}, 3});
}

TEST_CASE("cleanup_plan: a job without one has none") {
  auto order = an_order();
  order.work.cleanup.clear();
  CHECK(!plan_cleanup(order, a_command()));
  CHECK(!trouble_with_cleanup(order));
}

TEST_CASE("cleanup_plan: what can never be started is said before the attempt starts") {
  auto order = an_order();
  CHECK(!trouble_with_cleanup(order));
  order.parameters["who"] = std::string("a\0b", 3);
  CHECK(trouble_with_cleanup(order) == "a word of its cleanup holds a NUL byte");
  order.work.cleanup = {"{{param.none}}"};
  CHECK(trouble_with_cleanup(order) == "the program's name of its cleanup is empty");
}

TEST_CASE("cleanup_plan: one that ends well leaves the attempt's end as it is") {
  model::Outcome outcome;
  outcome.state = model::RunState::TimedOut;
  outcome.reason = model::Reason::AttemptTimeout;
  outcome.message = "ran longer than its timeout";
  const model::Outcome before = outcome;
  add_cleanup(outcome, an_end(0));
  CHECK(outcome == before);
}

TEST_CASE("cleanup_plan: one that fails makes it kill_failed, whatever it was") {
  model::Outcome outcome;
  SUBCASE("a success") {
    outcome.state = model::RunState::Succeeded;
    add_cleanup(outcome, an_end(4));
    CHECK(outcome.message == "cleanup failed: exit status 4; the attempt itself had succeeded");
  }
  SUBCASE("a timeout") {
    outcome.state = model::RunState::TimedOut;
    outcome.reason = model::Reason::AttemptTimeout;
    outcome.message = "ran longer than its timeout";
    warden::Ended hung = an_end(-1);
    hung.killed_by = warden::KilledBy::Timeout;
    add_cleanup(outcome, hung);
    CHECK(outcome.message ==
          "cleanup failed: ran longer than its timeout; the attempt itself had ended timed_out: ran longer than "
          "its timeout");
  }
  SUBCASE("the cleanup was not proven dead itself") {
    outcome.state = model::RunState::Succeeded;
    warden::Ended alive = an_end(0);
    alive.proven_empty = false;
    add_cleanup(outcome, alive);
  }
  CHECK(outcome.state == model::RunState::KillFailed);
  CHECK(outcome.reason == model::Reason::CleanupFailed);
}

TEST_CASE("cleanup_plan: an attempt that was not proven dead stays that, so that its slot is set aside") {
  model::Outcome outcome;
  outcome.state = model::RunState::KillFailed;
  outcome.reason = model::Reason::KillUnproven;
  add_cleanup(outcome, an_end(1));
  CHECK(outcome.reason == model::Reason::KillUnproven);
  CHECK(outcome.message == "cleanup failed: exit status 1; the attempt was not proven dead");
}

}  // namespace rota::worker::run
