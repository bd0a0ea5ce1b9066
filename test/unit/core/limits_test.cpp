// timeout: run and queue.
#include <doctest/doctest.h>

#include "harness.h"
#include "master/core/attempts/limit_rules.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

/// What the last dispatch allows the attempt.
Millis sent_limit(Harness& h) {
  const auto sent = h.pop_dispatches();
  REQUIRE_FALSE(sent.empty());
  return sent.back().timeout;
}

void take_over(Harness& h) {
  auto versions = h.versions;
  h = Harness(h.recovered(), {}, Epoch{h.epoch.value + 1}, h.now);
  h.versions = std::move(versions);
}

bool has_ended(const Harness& h, RunId run, RunState state, Reason reason, const std::string& detail) {
  const model::RunProgress& at = h.run(run).progress;
  return at.state == state && at.reason == reason && at.detail == detail && at.ended;
}

}  // namespace

TEST_CASE("run timeout: an attempt may run as long as is left of it, and no longer than its own timeout") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().timeout(6min).run_timeout(10min).retries(9, 1min, 1.0));
  const RunId run = h.run_now("j");
  CHECK(sent_limit(h) == 6min);
  h.advance(5min);
  h.report(run, RunState::Failed);
  h.advance(1min);
  CHECK(h.attempt(run).attempt == 2);
  CHECK(sent_limit(h) == 4min);
}

TEST_CASE("run timeout: an attempt that it ended is the last one") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().run_timeout(10min).retries(9, 1min, 1.0));
  const RunId run = h.run_now("j");
  CHECK(sent_limit(h) == 10min);
  h.advance(10min);
  h.report(run, RunState::TimedOut);
  CHECK(has_ended(h, run, RunState::TimedOut, Reason::RunTimeout, "timeout.run: 10m"));
  CHECK(h.run(run).progress.outcome.state == RunState::TimedOut);
}

TEST_CASE("run timeout: an attempt that its own timeout ended is tried again") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().timeout(5min).run_timeout(20min).retries(9, 1min, 1.0));
  const RunId run = h.run_now("j");
  h.advance(5min);
  h.report(run, RunState::TimedOut);
  CHECK(h.reason(run) == Reason::RetryDelay);
}

TEST_CASE("run timeout: no attempt follows that would begin after it") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().run_timeout(10min).retries(9, 4min, 1.0));
  const RunId run = h.run_now("j");
  h.advance(3min);
  h.report(run, RunState::Failed);
  h.advance(4min);
  REQUIRE(h.attempt(run).attempt == 2);
  h.report(run, RunState::Failed);
  CHECK(has_ended(h, run, RunState::Failed, Reason::ExitStatus,
                  "no time for another attempt, timeout.run: 10m"));
}

TEST_CASE("run timeout: a run that waits for a slot between two attempts ends with it") {
  Harness h;
  const auto w = h.join(a_worker("w", 1));
  h.apply(a_job().run_timeout(10min).retries(9, 1min, 1.0));
  h.apply(a_job("other"));
  const RunId run = h.run_now("j");
  h.advance(1min);
  const RunId other = h.run_now("other");
  h.report(run, RunState::Failed);
  h.accept(other);
  h.advance(8min + 59s);
  CHECK(h.reason(run) == Reason::AllSlotsBusy);
  h.advance(1s);
  CHECK(has_ended(h, run, RunState::TimedOut, Reason::RunTimeout, "timeout.run: 10m"));
  CHECK(h.run(run).progress.outcome.state == RunState::TimedOut);
}

TEST_CASE("run timeout: it counts from the first attempt, whoever leads") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().run_timeout(10min).retries(9, 1min, 1.0));
  const RunId run = h.run_now("j");
  h.advance(5min);
  h.report(run, RunState::Failed);
  SUBCASE("in a retry delay") {
    take_over(h);
    h.advance(1min);
    h.join(a_worker("w"));
    CHECK(sent_limit(h) == 4min);
  }
  SUBCASE("without a worker until it is over: it ends, and is not sent") {
    h.now.wall += 5min;
    h.now.mono += 5min;
    take_over(h);
    h.join(a_worker("w"));
    CHECK(h.pop_dispatches().empty());
    CHECK(h.reason(run) == Reason::RunTimeout);
  }
  SUBCASE("while it runs: the backstop knows what was left") {
    h.advance(1min);
    REQUIRE(h.attempt(run).attempt == 2);
    h.accept(run);
    take_over(h);
    h.handle(WorkerSeen{a_worker("w")});
    h.listed();
    h.inventory({"w", "i1"}, {{{run, 2}, HeldAttempt::State::Running, h.now.wall, {}}});
    h.advance(4min);
    CHECK(h.pop_cancels().empty());
    h.advance(41s);
    CHECK(h.pop_cancels().size() == 1);
  }
}

TEST_CASE("run timeout: no attempt follows a loss after it") {
  Harness h;
  const auto w = h.join(a_worker("w"));
  h.apply(a_job().run_timeout(10min));
  const RunId run = h.run_now("j");
  h.accept(run);
  h.advance(10min);
  h.leave(w);
  h.advance(1min);
  const model::RunProgress& at = h.run(run).progress;
  CHECK(at.state == RunState::Lost);
  CHECK(at.reason == Reason::RunTimeout);
  CHECK(at.detail == "timeout.run: 10m; attempt 1 was lost with worker w (loss 1 of at most 3)");
}

TEST_CASE("run timeout: a wait for the first attempt does not count") {
  Harness h;
  h.apply(a_job().run_timeout(10min));
  const RunId run = h.run_now("j");
  h.advance(1h);
  CHECK(h.state(run) == RunState::Queued);
  h.join(a_worker("w"));
  CHECK(sent_limit(h) == 10min);
}

TEST_CASE("queue timeout: a run that gets no slot in time ends") {
  Harness h;
  h.apply(a_job().queue_timeout(10min).retries(5));
  const RunId run = h.run_now("j");
  h.advance(10min - 1ms);
  CHECK(h.state(run) == RunState::Queued);
  h.advance(1ms);
  CHECK(has_ended(h, run, RunState::TimedOut, Reason::QueueTimeout, "timeout.queue: 10m"));
  CHECK(h.run(run).progress.attempt == 0);
}

TEST_CASE("queue timeout: the wait for other runs of the job counts, and others move up") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().queue_timeout(10min).overlap(Overlap::Queue));
  const RunId first = h.run_now("j");
  h.accept(first);
  const RunId second = h.run_now("j");
  h.advance(9min);
  const RunId third = h.run_now("j");
  h.advance(1min);
  CHECK(h.reason(second) == Reason::QueueTimeout);
  CHECK(h.reason(third) == Reason::WaitsForRun);
  h.report(first, RunState::Succeeded);
  CHECK(h.state(third) == RunState::Dispatched);
}

TEST_CASE("queue timeout: an attempt that was begun in time may take as long as it likes, and be tried again") {
  Harness h;
  const auto w = h.join(a_worker("w"));
  h.apply(a_job().queue_timeout(1min).retries(1, 5min));
  const RunId run = h.run_now("j");
  h.accept(run);
  h.advance(1h);
  h.report(run, RunState::Failed);
  h.advance(5min);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("queue timeout: a worker that did not take the attempt has not begun it") {
  Harness h;
  h.join(a_worker("w", 1));
  h.apply(a_job().queue_timeout(1min));
  const RunId run = h.run_now("j");
  h.advance(30s);
  h.refuse(run, model::Refusal::NoSlot);
  for (int i = 0; i < 40 && h.state(run) != RunState::TimedOut; ++i) {
    h.advance(1s);
    if (h.state(run) == RunState::Dispatched) h.refuse(run, model::Refusal::NoSlot);
  }
  CHECK(h.reason(run) == Reason::QueueTimeout);
}

TEST_CASE("queue timeout: the jitter of a schedule is no wait") {
  Harness h;
  h.join(a_worker("w", 1));
  h.apply(a_job("other"));
  h.accept(h.run_now("other"));
  const JobId job = h.apply(a_job().queue_timeout(1min).entries({"cron */5 * * * *; jitter 3m"}));
  while (h.runs_of(job).empty()) h.advance(1s);
  const RunId run = h.runs_of(job).at(0);
  REQUIRE(h.reason(run) == Reason::Jitter);
  const WallTime start = *h.run(run).progress.not_before;
  REQUIRE(start > h.now.wall + 1s);
  const bool taken_over = [&] {
    bool yes = false;
    SUBCASE("one leader") {}
    SUBCASE("another leads after it") { yes = true; }
    return yes;
  }();
  h.advance(start - h.now.wall);
  if (taken_over) take_over(h);
  h.advance(1min - 1ms);
  CHECK_FALSE(model::is_final(h.state(run)));
  h.advance(1ms);
  CHECK(h.reason(run) == Reason::QueueTimeout);
}

TEST_CASE("queue timeout: it counts over a takeover, and a run whose time was over by then is not sent") {
  Harness h;
  h.apply(a_job().queue_timeout(10min));
  const RunId run = h.run_now("j");
  h.now.wall += 9min;
  h.now.mono += 9min;
  take_over(h);
  SUBCASE("it ends later") {
    h.advance(1min);
    CHECK(h.reason(run) == Reason::QueueTimeout);
  }
  SUBCASE("it is sent in time") {
    h.join(a_worker("w"));
    CHECK(h.state(run) == RunState::Dispatched);
  }
  SUBCASE("a worker comes too late") {
    h.now.wall += 1min;
    take_over(h);
    h.join(a_worker("w"));
    CHECK(h.pop_dispatches().empty());
    CHECK(h.reason(run) == Reason::QueueTimeout);
  }
}

TEST_CASE("queue timeout: the run behind one that ends while slots are given gets one, also in another queue") {
  Harness h;
  h.apply(a_job().queue_timeout(10min).overlap(Overlap::Queue));
  const RunId first = h.run_now("j");
  h.now.wall += 5min;
  h.now.mono += 5min;
  h.apply(a_job().queue_timeout(10min).overlap(Overlap::Queue).on_worker("w"));
  const RunId second = h.run_now("j");
  h.now.wall += 6min;
  h.now.mono += 6min;
  take_over(h);
  h.join(a_worker("w"));
  CHECK(h.reason(first) == Reason::QueueTimeout);
  CHECK(h.state(second) == RunState::Dispatched);
}

TEST_CASE("queue timeout: a tick that fires late counts from its firing") {
  Harness h;
  const JobId job = h.apply(a_job().queue_timeout(5min).every(1h).starting(h.now.wall + 1h));
  h.handle(HoldTicks{"held"});
  h.advance(90min);
  h.handle(HoldTicks{""});
  h.tick();
  REQUIRE(h.runs_of(job).size() == 1);
  const RunId run = h.runs_of(job).at(0);
  CHECK(h.run(run).scheduled < h.now.wall - 29min);
  h.advance(5min - 1s);
  CHECK_FALSE(model::is_final(h.state(run)));
  h.advance(1s);
  CHECK(h.reason(run) == Reason::QueueTimeout);
}

TEST_CASE("timeouts: a clock that was an hour ahead under the last leader makes none longer") {
  Harness h;
  h.join(a_worker("w"));
  h.apply(a_job().run_timeout(10min).queue_timeout(5min).retries(9, 1min, 1.0));
  const RunId run = h.run_now("j");
  SUBCASE("the next attempt gets the whole time, and no more") {
    h.report(run, RunState::Failed);
    h.now.wall -= 1h;
    take_over(h);
    h.advance(1min);
    h.join(a_worker("w"));
    CHECK(sent_limit(h) == 10min);
  }
  SUBCASE("nobody is there for it") {
    h.report(run, RunState::Failed);
    h.now.wall -= 1h;
    take_over(h);
    h.advance(10min);
    CHECK(h.reason(run) == Reason::RunTimeout);
  }
  SUBCASE("it waits for its first attempt") {
    h.refuse(run, model::Refusal::NoSlot);
    REQUIRE(h.state(run) == RunState::Queued);
    h.now.wall -= 1h;
    take_over(h);
    h.advance(5min);
    CHECK(h.reason(run) == Reason::QueueTimeout);
  }
}
