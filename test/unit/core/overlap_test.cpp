#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

/// A job of that policy, and a worker with slots enough.
struct OneJob {
  Harness h;
  model::WorkerKey w;
  JobBuilder builder;
  JobId job;

  explicit OneJob(Overlap overlap, std::int32_t concurrency = 1)
      : builder(a_job().overlap(overlap).concurrency(concurrency).kill_grace(7s)) {
    w = h.join(a_worker("w", 20));
    job = h.apply(builder);
  }

  RunId start() {
    const RunId run = h.run_now("j");
    if (h.state(run) == RunState::Dispatched) h.accept(run);
    return run;
  }

  /// The worker reports that the attempt was killed, as it was asked to.
  void report_killed(RunId run) {
    model::AttemptReport line;
    line.key = h.attempt(run);
    line.worker = h.run(run).progress.worker;
    line.what = model::AttemptReport::What::Finished;
    line.outcome.state = RunState::Killed;
    line.outcome.reason = Reason::CancelledByUser;
    h.handle(Reported{Token{77}, line.worker, {line}});
  }

  void take_over() {
    auto versions = h.versions;
    const Now now = h.now;
    h = Harness(h.recovered(), {}, Epoch{h.epoch.value + 1});
    h.versions = std::move(versions);
    h.now = now;
  }

  bool is_replaced(RunId old, RunId by, RunState as) const {
    const model::RunProgress& at = h.run(old).progress;
    return at.state == as && at.reason == Reason::ReplacedBy && at.detail == std::to_string(by.value);
  }
};

}  // namespace

TEST_CASE("overlap: with queue_one the newest run waits, and the one that waited before is replaced") {
  OneJob c(Overlap::QueueOne);
  const RunId first = c.start(), second = c.start();
  CHECK(c.h.reason(second) == Reason::WaitsForRun);
  const RunId third = c.start();
  CHECK(c.is_replaced(second, third, RunState::Cancelled));
  CHECK(c.h.run(second).progress.ended);
  CHECK(c.h.run(second).progress.attempt == 0);
  CHECK(!c.h.run(first).progress.cancel_asked);
  CHECK(c.h.pop_cancels().empty());
  c.h.report(first, RunState::Succeeded);
  CHECK(c.h.state(third) == RunState::Dispatched);
}

TEST_CASE("overlap: with replace the running one is ended, and the new one starts once that is proven") {
  OneJob c(Overlap::Replace);
  const RunId old = c.start();
  c.h.pop_dispatches();
  const RunId young = c.start();
  CHECK(c.h.reason(young) == Reason::WaitsForRun);
  CHECK(c.h.run(old).progress.cancel_asked);
  const auto cancels = c.h.pop_cancels();
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].attempts == std::vector{c.h.attempt(old)});
  CHECK(cancels[0].grace == 7s);
  CHECK(c.h.pop_dispatches().empty());
  c.report_killed(old);
  CHECK(c.is_replaced(old, young, RunState::Killed));
  CHECK(c.h.state(young) == RunState::Dispatched);
}

TEST_CASE("overlap: while one is being ended, a newer run takes the place of the one that waits") {
  OneJob c(Overlap::Replace);
  const RunId old = c.start(), second = c.start(), third = c.start();
  CHECK(c.is_replaced(second, third, RunState::Cancelled));
  CHECK(c.h.pop_cancels().size() == 1);  // it is not asked twice
  c.report_killed(old);
  CHECK(c.is_replaced(old, second, RunState::Killed));
  CHECK(c.h.state(third) == RunState::Dispatched);
}

TEST_CASE("overlap: what no worker holds is replaced at once") {
  Harness h;
  h.apply(a_job().overlap(Overlap::Replace));
  const RunId queued = h.run_now("j"), next = h.run_now("j");
  CHECK(h.state(queued) == RunState::Cancelled);
  CHECK(h.reason(queued) == Reason::ReplacedBy);
  CHECK(h.state(next) == RunState::Queued);

  h.apply(a_job("r").overlap(Overlap::Replace).retries(3, 60s));
  h.join(a_worker("w", 4));
  const RunId delayed = h.run_now("r");
  h.accept(delayed);
  h.report(delayed, RunState::Failed);
  CHECK(h.reason(delayed) == Reason::RetryDelay);
  const RunId after = h.run_now("r");
  CHECK(h.reason(delayed) == Reason::ReplacedBy);
  CHECK(h.state(after) == RunState::Dispatched);
}

TEST_CASE("overlap: terminate leaves no time between TERM and KILL, for the next leader neither") {
  OneJob c(Overlap::Terminate);
  const RunId old = c.start();
  c.start();
  const auto cancels = c.h.pop_cancels();
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].grace == 0ms);
  const model::AttemptKey held = c.h.attempt(old);
  c.take_over();
  c.h.handle(WorkerSeen{a_worker("w", 20)});
  c.h.listed();
  c.h.inventory(c.w, {{held, model::HeldAttempt::State::Running, {}, {}}});
  const auto again = c.h.pop_cancels();
  REQUIRE(again.size() == 1);
  CHECK(again[0].grace == 0ms);
}

TEST_CASE("overlap: a user's cancel keeps its grace and its words, even if it is accepted later") {
  OneJob c(Overlap::Terminate);
  const RunId run = c.h.run_now("j");
  c.h.cancel(run);
  CHECK(c.h.pop_cancels().at(0).grace == 7s);
  c.h.accept(run);
  const RunId next = c.start();
  c.report_killed(run);
  CHECK(c.h.reason(run) == Reason::CancelledByUser);
  CHECK(c.h.run(run).progress.detail == "cancelled by tester: enough");
  CHECK(c.h.state(next) == RunState::Dispatched);
}

TEST_CASE("overlap: a replaced run that is cut off keeps its place until its fence") {
  OneJob c(Overlap::Replace);
  const RunId old = c.start();
  c.h.advance(10s);  // past the grants that an older Term may have given
  CHECK(c.h.renew(c.w));
  c.h.advance(1s);
  c.h.join(a_worker("w2", 1));
  c.h.leave(c.w);
  c.h.pop_dispatches();
  const RunId young = c.start();
  CHECK(c.h.reason(young) == Reason::WaitsForRun);
  c.h.advance(4299ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.state(old) == RunState::Lost);
  CHECK(c.h.state(young) == RunState::Dispatched);
}

TEST_CASE("overlap: with concurrency as many run at once, and no more") {
  OneJob c(Overlap::Skip, 3);
  const RunId first = c.start();
  CHECK(c.h.state(c.start()) != RunState::Skipped);
  CHECK(c.h.state(c.start()) != RunState::Skipped);
  const RunId fourth = c.start();
  CHECK(c.h.state(fourth) == RunState::Skipped);
  CHECK(c.h.reason(fourth) == Reason::OverlapSkipped);
  c.h.report(first, RunState::Succeeded);
  CHECK(c.h.state(c.start()) != RunState::Skipped);
}

TEST_CASE("overlap: a retry delay keeps its place") {
  OneJob c(Overlap::Queue, 2);
  c.h.apply(c.builder.retries(3, 60s));
  const RunId first = c.start(), second = c.start(), third = c.start();
  CHECK(c.h.reason(third) == Reason::WaitsForRun);
  c.h.report(first, RunState::Failed);
  CHECK(c.h.reason(first) == Reason::RetryDelay);
  CHECK(c.h.reason(third) == Reason::WaitsForRun);
  c.h.report(second, RunState::Succeeded);
  CHECK(c.h.state(third) == RunState::Dispatched);
}

TEST_CASE("overlap: an edit that raises concurrency lets begin what waits; one that lowers it ends none") {
  OneJob c(Overlap::Queue, 1);
  c.start();
  const RunId second = c.start(), third = c.start(), fourth = c.start();
  c.h.apply(c.builder.concurrency(3));
  CHECK(c.h.state(second) == RunState::Dispatched);
  CHECK(c.h.state(third) == RunState::Dispatched);
  CHECK(c.h.reason(fourth) == Reason::WaitsForRun);
  c.h.apply(c.builder.concurrency(1));
  CHECK(c.h.pop_cancels().empty());
  c.h.report(second, RunState::Succeeded);
  CHECK(c.h.reason(fourth) == Reason::WaitsForRun);
}

TEST_CASE("overlap: replace ends as many as a lowered concurrency asks for, oldest first") {
  OneJob c(Overlap::Replace, 3);
  const RunId first = c.start(), second = c.start(), third = c.start();
  c.h.apply(c.builder.concurrency(2));
  const RunId fourth = c.start();
  CHECK(c.h.run(first).progress.cancel_asked);
  CHECK(c.h.run(second).progress.cancel_asked);
  CHECK(!c.h.run(third).progress.cancel_asked);
  c.report_killed(first);
  CHECK(c.h.reason(fourth) == Reason::WaitsForRun);
  c.report_killed(second);
  CHECK(c.h.state(fourth) == RunState::Dispatched);
}

TEST_CASE("overlap: a leader that follows one without concurrency lets begin what has a place") {
  OneJob c(Overlap::Queue, 1);
  c.start();
  const RunId second = c.start(), third = c.start();
  c.h.versions.rbegin()->second.definition = c.builder.concurrency(2).build();
  c.take_over();
  c.h.tick();
  CHECK(c.h.state(second) == RunState::Queued);
  CHECK(c.h.reason(third) == Reason::WaitsForRun);
}

TEST_CASE("overlap: a tick ends the run of the tick before, all in the batch that records it") {
  Harness h;
  h.join(a_worker("w", 4));
  const JobId job = h.apply(a_job().every(1s).overlap(Overlap::Replace));
  h.advance(1s);
  h.accept(h.runs_of(job).at(0));
  h.now.wall += 1s;
  h.now.mono += 1s;
  h.tick();
  REQUIRE(h.last.changes.new_runs.size() == 1);
  REQUIRE(h.last.changes.updated_runs.size() == 1);
  CHECK(h.last.changes.updated_runs[0].progress.cancel_asked);
  CHECK(h.last.changes.watermark);
  CHECK(h.gaps_of(job).empty());
}

TEST_CASE("overlap: late runs end no other") {
  Harness h;
  h.join(a_worker("w", 4));
  const JobId job = h.apply(a_job().every(60s).overlap(Overlap::Replace).grace(2s));
  h.advance(60s);
  const RunId running = h.runs_of(job).at(0);
  h.accept(running);
  h.now.wall += 90s;
  h.now.mono += 90s;
  h.tick();
  REQUIRE(h.runs_of(job).size() == 2);
  const RunId late = h.runs_of(job).at(1);
  CHECK(h.reason(late) == Reason::CaughtUp);
  CHECK(!h.run(running).progress.cancel_asked);
  h.report(running, RunState::Succeeded);
  h.advance(1s);
  CHECK(h.state(late) == RunState::Dispatched);
}

TEST_CASE("overlap: a job is called stuck at the third tick in a row behind one run, once") {
  Harness h;
  h.join(a_worker("w", 4));
  const JobId job = h.apply(a_job().every(1s));
  const auto told = [&] {
    return std::ranges::count_if(h.notices,
                                 [](const Notice& n) { return n.sentence.starts_with("job is stuck"); });
  };
  h.advance(1s);
  const RunId first = h.runs_of(job).at(0);
  h.accept(first);
  h.advance(2s);
  CHECK(told() == 0);
  h.advance(1s);
  CHECK(told() == 1);
  h.advance(10s);
  CHECK(told() == 1);
  CHECK(h.counter("stuck") == 1);
  h.report(first, RunState::Succeeded);
  h.advance(1s);
  h.accept(h.runs_of(job).at(1));
  h.advance(2s);
  CHECK(told() == 1);
  h.advance(1s);
  CHECK(told() == 2);
}
