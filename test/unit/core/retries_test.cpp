#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using model::Reason;
using model::RunState;

TEST_CASE("retry: a failed attempt is followed by others with growing pauses, kept as history") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(2, 1s, 3.0));
  const RunId run = h.run_now("j");
  h.report(run, RunState::Failed);
  CHECK(h.state(run) == RunState::Waiting);
  CHECK(h.reason(run) == Reason::RetryDelay);
  CHECK(h.run(run).progress.not_before == h.now.wall + 1s);
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].attempt == 1);
  h.advance(999ms);
  CHECK(h.state(run) == RunState::Waiting);
  h.advance(1ms);
  CHECK(h.state(run) == RunState::Dispatched);
  CHECK(h.attempt(run).attempt == 2);
  h.report(run, RunState::TimedOut);
  h.advance(3s);
  CHECK(h.attempt(run).attempt == 3);
  h.report(run, RunState::Failed);
  CHECK(h.state(run) == RunState::Failed);
  CHECK(h.run(run).progress.failures == 3);
}

TEST_CASE("retry: what the backstop ended has timed out, and what was killed long before it was lost") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().timeout(1min).retries(2).never_again());
  const RunId run = h.run_now("j");
  h.accept(run);
  model::AttemptReport line{h.attempt(run), h.run(run).progress.worker,
                            model::AttemptReport::What::Finished, h.now.wall, ended_as(RunState::Killed), {}};
  line.outcome.started = h.now.wall;
  h.advance(2min);
  REQUIRE_FALSE(h.pop_cancels().empty());
  SUBCASE("ended by the backstop") {
    line.outcome.ended = h.now.wall;
    h.handle(master::core::Reported{Token{99}, line.worker, {line}});
    CHECK(h.attempts.at(0).outcome.state == RunState::TimedOut);
    CHECK(h.run(run).progress.failures == 1);
    h.advance(1min);
    CHECK(h.attempt(run).attempt == 2);
  }
  SUBCASE("killed within its timeout, by a drain that nobody knows of any more") {
    line.outcome.ended = line.outcome.started + 10s;
    h.handle(master::core::Reported{Token{99}, line.worker, {line}});
    CHECK(h.state(run) == RunState::Lost);
    CHECK(h.run(run).progress.failures == 0);
  }
}

TEST_CASE("retry: success ends it") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(2));
  const RunId run = h.run_now("j");
  h.report(run, RunState::Failed);
  h.advance(1s);
  h.report(run, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
}

TEST_CASE("retry: the pause is kept over a takeover, also when the wall clock is off") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job().retries(2, 60s));
  const RunId run = before.run_now("j");
  before.report(run, RunState::Failed);
  Harness h(before.recovered(), {}, Epoch{8});
  h.join(a_worker("w1"));
  h.advance(59s);
  CHECK(h.state(run) == RunState::Waiting);
  h.advance(1s);
  CHECK(h.state(run) == RunState::Dispatched);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("retry: the pause runs on the monotonic clock") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(1, 10s));
  const RunId run = h.run_now("j");
  h.report(run, RunState::Failed);
  h.jump_wall(-1h);
  h.advance(10s);
  CHECK(h.state(run) == RunState::Dispatched);
}

TEST_CASE("retry: an unknown handler is not tried again") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(5));
  const RunId run = h.run_now("j");
  h.refuse(run, model::Refusal::UnknownHandler);
  CHECK(h.state(run) == RunState::Failed);
  CHECK(h.reason(run) == Reason::HandlerUnknown);
}

TEST_CASE("timeout: the leader asks again long after the worker should have ended it") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().timeout(60s));
  const RunId run = h.run_now("j");
  h.accept(run);
  h.advance(60s + 10s + 30s - 1ms);
  CHECK(h.pop_cancels().empty());
  h.advance(1ms);
  CHECK(h.pop_cancels().size() == 1);
  h.report(run, RunState::Killed);
  CHECK(h.state(run) == RunState::TimedOut);
}

TEST_CASE("cost: running is written only when it lasts over a second") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.row_writes = 0;
  h.accept(run);
  h.report_started(run);
  CHECK(h.row_writes == 0);
  h.advance(2s);
  CHECK(h.row_writes == 1);
  CHECK(h.state(run) == RunState::Running);
  CHECK(h.run(run).progress.started.has_value());
  h.report(run, RunState::Succeeded);
  CHECK(h.row_writes == 2);
}

TEST_CASE("cost: without a free slot one update more") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job().overlap(model::Overlap::Allow));
  const RunId first = h.run_now("j");
  h.row_writes = 0;
  const RunId second = h.run_now("j");
  CHECK(h.state(second) == RunState::Queued);
  CHECK(h.reason(second) == Reason::AllSlotsBusy);
  h.report(first, RunState::Succeeded);
  h.report(second, RunState::Succeeded);
  CHECK(h.row_writes == 1 + 1 + 1 + 1);  // second: insert, dispatch, end; first: end
}

TEST_CASE("cost: a run that comes and goes within one turn is one row") {
  Harness h;
  h.apply(a_job());
  master::core::Effects turn;
  h.scheduler->handle(master::core::RunNow{Token{1}, "t", "default", "j", "", "", nullptr}, h.now, turn);
  const RunId run = turn.changes.new_runs.at(0).id;
  h.scheduler->handle(master::core::CancelRun{Token{2}, "t", run, ""}, h.now, turn);
  CHECK(turn.changes.new_runs.size() == 1);
  CHECK(turn.changes.updated_runs.empty());
  CHECK(turn.changes.new_runs[0].progress.state == RunState::Cancelled);
}
