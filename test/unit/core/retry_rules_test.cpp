// retry: only, never, again, jitter, another_worker.
#include <doctest/doctest.h>

#include <set>

#include "harness.h"
#include "master/core/attempts/retry.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::AnotherWorker;
using model::Reason;
using model::RunState;

namespace {

model::Outcome exited_with(std::int32_t status) {
  model::Outcome outcome;
  outcome.state = RunState::Failed;
  outcome.reason = Reason::ExitStatus;
  outcome.exit_status = status;
  return outcome;
}

model::RetryRule rule_with_count(std::int32_t count) {
  model::RetryRule rule;
  rule.count = count;
  return rule;
}

FailedAttempt first_attempt_of(std::int64_t run) { return {{RunId{run}, 1}, 0, Millis{0}}; }

void report_exit(Harness& h, RunId run, std::int32_t status) {
  model::AttemptReport line;
  line.key = h.attempt(run);
  line.worker = h.run(run).progress.worker;
  line.what = model::AttemptReport::What::Finished;
  line.outcome = exited_with(status);
  h.handle(Reported{Token{78}, line.worker, {line}});
}

void begin_next_term(Harness& h) {
  auto versions = h.versions;
  h = Harness(h.recovered(), {}, Epoch{h.epoch.value + 1}, h.now);
  h.versions = std::move(versions);
}

}  // namespace

TEST_CASE("retry rule: never keeps an end from being tried again, and only all others") {
  model::RetryRule rule = rule_with_count(3);
  rule.never = {"exit 2,10-12", "start_failed"};
  CHECK(next_try(rule, exited_with(1), first_attempt_of(1)).pause == rule.delay);
  CHECK_FALSE(next_try(rule, exited_with(2), first_attempt_of(1)).pause);
  CHECK_FALSE(next_try(rule, exited_with(11), first_attempt_of(1)).pause);
  CHECK(next_try(rule, exited_with(11), first_attempt_of(1)).why == "an end that is not tried again (retry: never)");
  rule.only = {"timed_out", "exit 2-5"};
  CHECK_FALSE(next_try(rule, exited_with(1), first_attempt_of(1)).pause);
  CHECK(next_try(rule, exited_with(1), first_attempt_of(1)).why == "an end that is not tried again (retry: only)");
  CHECK_FALSE(next_try(rule, exited_with(2), first_attempt_of(1)).pause);  // never counts before only
  CHECK(next_try(rule, exited_with(3), first_attempt_of(1)).pause);
  model::Outcome late;
  late.state = RunState::TimedOut;
  CHECK(next_try(rule, late, first_attempt_of(1)).pause);
}

TEST_CASE("retry rule: jitter lengthens each delay by up to so much, always the same for one attempt") {
  model::RetryRule rule = rule_with_count(3);
  rule.jitter = 1000ms;
  std::set<Millis> seen;
  for (std::int64_t run = 1; run <= 1000; ++run) {
    const auto pause = next_try(rule, exited_with(1), first_attempt_of(run)).pause;
    REQUIRE(pause);
    CHECK(*pause >= rule.delay);
    CHECK(*pause <= rule.delay + rule.jitter);
    CHECK(pause == next_try(rule, exited_with(1), first_attempt_of(run)).pause);
    seen.insert(*pause);
  }
  CHECK(seen.size() > 500);
  CHECK(longest_pause(rule, 1) == rule.delay + rule.jitter);
}

TEST_CASE("retry rule: again is no failure, and has its own pace and end") {
  model::RetryRule rule = rule_with_count(0);
  rule.again = "exit 75; every 5m; at_most 1h";
  const NextTry next = next_try(rule, exited_with(75), first_attempt_of(1));
  CHECK(next.pause == 5min);
  CHECK_FALSE(next.is_failure);
  CHECK(next_try(rule, exited_with(75), {{RunId{1}, 12}, 0, 55min}).pause == 5min);
  const NextTry last = next_try(rule, exited_with(75), {{RunId{1}, 13}, 0, 56min});
  CHECK_FALSE(last.pause);
  CHECK(last.is_failure);
  CHECK(last.why == "not ready for 1h (retry: again)");
  CHECK_FALSE(next_try(rule, exited_with(1), first_attempt_of(1)).pause);
}

TEST_CASE("again: a run waits without a slot until it is ready, and failures count by themselves") {
  Harness h;
  h.join(a_worker("w", 1));
  model::RetryRule rule = rule_with_count(1);
  rule.again = "exit 75; every 5m";
  h.apply(a_job().retry(rule));
  const RunId run = h.run_now("j");
  for (int i = 0; i < 4; ++i) {
    report_exit(h, run, 75);
    CHECK(h.reason(run) == Reason::RetryDelay);
    CHECK(h.run(run).progress.failures == 0);
    CHECK(h.run(run).progress.detail == "attempt " + std::to_string(i + 1) + " failed: not ready yet");
    h.advance(5min);
  }
  report_exit(h, run, 1);
  CHECK(h.run(run).progress.failures == 1);
  h.advance(1s);
  report_exit(h, run, 75);
  h.advance(5min);
  report_exit(h, run, 1);
  CHECK(h.state(run) == RunState::Failed);
  CHECK(h.run(run).progress.failures == 2);
}

TEST_CASE("again: the wait goes on over a takeover, and what a store counts as failures is none") {
  Harness h;
  h.join(a_worker("w"));
  model::RetryRule rule = rule_with_count(1);
  rule.again = "exit 75; every 5m";
  h.apply(a_job().retry(rule));
  const RunId run = h.run_now("j");
  report_exit(h, run, 75);
  auto versions = h.versions;
  auto recovered = h.recovered();
  recovered.runs.at(0).progress.failures = 4;  // as stores count
  recovered.failed_exits = {{run, 75, 3}, {run, 1, 1}};
  h = Harness(std::move(recovered), {}, Epoch{8}, h.now);
  h.versions = std::move(versions);
  h.advance(5min - 1ms);
  CHECK(h.reason(run) == Reason::RetryDelay);
  h.advance(1ms);
  h.join(a_worker("w"));
  REQUIRE(h.state(run) == RunState::Dispatched);
  report_exit(h, run, 1);
  CHECK(h.state(run) == RunState::Failed);
  CHECK(h.run(run).progress.failures == 2);
}

TEST_CASE("another worker: where it is preferred, the last one gets the run only when no other can take it") {
  Harness h;
  h.join(a_worker("w1"));
  model::RetryRule rule = rule_with_count(5);
  rule.another_worker = AnotherWorker::Prefer;
  h.apply(a_job().retry(rule));
  const RunId run = h.run_now("j");
  report_exit(h, run, 1);
  h.advance(1s);
  CHECK(h.run(run).progress.worker.id == "w1");
  const auto w2 = h.join(a_worker("w2"));
  report_exit(h, run, 1);
  h.advance(2s);
  CHECK(h.run(run).progress.worker.id == "w2");
  report_exit(h, run, 1);
  h.advance(4s);
  CHECK(h.run(run).progress.worker.id == "w1");
}

TEST_CASE("another worker: a route with one worker in mind goes to the next one and back") {
  Harness h;
  for (const auto& [id, rank] : {std::pair{"w1", 10}, {"w2", 20}, {"w3", 30}}) {
    auto worker = a_worker(id);
    worker.rank = rank;
    h.join(worker);
  }
  model::RetryRule rule = rule_with_count(5);
  rule.factor = 1;
  rule.another_worker = AnotherWorker::Prefer;
  SUBCASE("preferred") {}
  SUBCASE("required") { rule.another_worker = AnotherWorker::Require; }
  h.apply(a_job().route(model::RouteKind::First).retry(rule));
  const RunId run = h.run_now("j");
  for (const char* worker : {"w1", "w2", "w1", "w2"}) {
    CHECK(h.run(run).progress.worker.id == worker);
    report_exit(h, run, 1);
    h.advance(1s);
  }
}

TEST_CASE("another worker: where it is required, the run waits for another, and others do not wait behind it") {
  Harness h;
  h.join(a_worker("w1"));
  model::RetryRule rule = rule_with_count(5);
  rule.another_worker = AnotherWorker::Require;
  h.apply(a_job().retry(rule));
  h.apply(a_job("other"));
  const RunId run = h.run_now("j");
  report_exit(h, run, 1);
  h.advance(1s);
  CHECK(h.reason(run) == Reason::NoWorkerInPool);
  CHECK(h.view(run).detail == "not on w1, its last worker (retry: another_worker)");
  CHECK(h.state(h.run_now("other")) == RunState::Dispatched);
  SUBCASE("another comes") {
    h.join(a_worker("w2"));
    CHECK(h.run(run).progress.worker.id == "w2");
  }
  SUBCASE("the same leader's successor goes on with that") {
    begin_next_term(h);
    h.join(a_worker("w1"));
    CHECK(h.state(run) == RunState::Queued);
    h.join(a_worker("w2"));
    CHECK(h.run(run).progress.worker.id == "w2");
  }
}
