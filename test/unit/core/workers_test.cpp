#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Reason;
using model::RunState;

TEST_CASE("workers: nothing is dispatched before the inventory, ticks are recorded meanwhile") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  h.handle(WorkerSeen{a_worker("w1")});
  CHECK(h.pop_hellos().empty());
  h.listed();
  CHECK(h.pop_hellos().size() == 1);
  h.advance(2s);
  CHECK(h.runs_of(job).size() == 2);
  CHECK(h.pop_dispatches().empty());
  CHECK(h.reason(h.runs_of(job)[1]) == Reason::WorkerUnreconciled);
  h.inventory({"w1", "i1"});
  CHECK(h.pop_dispatches().size() == 2);
}

TEST_CASE("workers: a failed hello is repeated with growing pauses") {
  Harness h;
  h.listed();
  h.handle(WorkerSeen{a_worker("w1")});
  CHECK(h.pop_hellos().size() == 1);
  h.handle(HelloFailed{{"w1", "i1"}, true, "refused"});
  h.advance(200ms);
  CHECK(h.pop_hellos().size() == 1);
  h.handle(HelloFailed{{"w1", "i1"}, true, "refused"});
  h.advance(200ms);
  CHECK(h.pop_hellos().empty());
  h.advance(200ms);
  CHECK(h.pop_hellos().size() == 1);
  const auto view = h.scheduler->snapshot(h.now).workers.at(0);
  CHECK(view.state == "registering");
  CHECK(view.why == "refused");
}

TEST_CASE("workers: an inventory with a higher epoch ends the Term") {
  Harness h;
  h.listed();
  h.handle(WorkerSeen{a_worker("w1")});
  model::Inventory all;
  all.worker = {"w1", "i1"};
  all.highest_epoch = Epoch{8};
  h.handle(HelloAnswered{all});
  CHECK(h.last.term_ends.has_value());
}

TEST_CASE("workers: a drain or a cancel that is refused for a higher epoch ends the Term") {
  Harness h;
  h.join(a_worker("w1"));
  CHECK_FALSE(h.last.term_ends);
  h.handle(EpochRefused{{"w1", "i1"}});
  REQUIRE(h.last.term_ends);
  CHECK(h.last.term_ends->why == "worker w1 refused a message: it knows a higher epoch");
}

TEST_CASE("workers: each life is a row, with when and why it left") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  info.started = h.now.wall - 5s;
  h.join(info);
  REQUIRE(h.lives.size() == 1);
  CHECK(h.lives[0].joined == info.started);
  h.handle(WorkerSeen{info});
  CHECK(h.lives.size() == 1);
  h.leave(info.key);
  REQUIRE(h.lives.size() == 2);
  CHECK(h.lives[1].left == h.now.wall);
}

TEST_CASE("workers: a new life adopts what it still runs, and what it lacks is dead") {
  Harness h;
  h.join(a_worker("w1", 4, "i1"));
  h.apply(a_job().overlap(model::Overlap::Allow));
  const RunId kept = h.run_now("j");
  const RunId died = h.run_now("j");
  const RunId done = h.run_now("j");
  for (const RunId run : {kept, died, done}) h.accept(run);
  h.pop_dispatches();

  h.handle(WorkerSeen{a_worker("w1", 4, "i2")});
  CHECK(h.pop_hellos().empty());  // the old node is still there
  h.leave({"w1", "i1"});
  REQUIRE(h.pop_hellos().size() == 1);
  h.inventory({"w1", "i2"}, {{h.attempt(kept), HeldAttempt::State::Running, h.now.wall, {}},
                             {h.attempt(done), HeldAttempt::State::Finished, {}, ended_as(RunState::Succeeded)}});
  CHECK(h.state(done) == RunState::Succeeded);
  const auto again = h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{died, 2});
  CHECK(h.attempts.at(0).outcome.reason == Reason::AttemptDied);
  CHECK(h.run(died).progress.failures == 0);
  h.advance(1s);
  CHECK(h.run(kept).progress.worker.incarnation == "i2");
  CHECK(h.attempt(kept).attempt == 1);
  h.report(kept, RunState::Succeeded);
  CHECK(h.state(kept) == RunState::Succeeded);
}

TEST_CASE("workers: the same life without a sent attempt gets it again, same number") {
  Harness h;
  const auto w1 = h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.pop_dispatches();
  h.handle(HelloFailed{w1, false, "connection lost"});
  h.advance(200ms);
  h.inventory(w1);
  const auto again = h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{run, 1});
}

TEST_CASE("workers: an attempt that is not the run's present one is told to die") {
  Harness h;
  h.handle(WorkerSeen{a_worker("w1")});
  h.listed();
  h.inventory({"w1", "i1"}, {{{RunId{99}, 1}, HeldAttempt::State::Running, {}, {}}});
  const auto cancels = h.pop_cancels();
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].attempts.at(0).run == RunId{99});
}

TEST_CASE("workers: a second life under one id gets nothing while the first is registered") {
  Harness h;
  h.join(a_worker("w1", 4, "i1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.handle(WorkerSeen{a_worker("w1", 4, "rival")});
  CHECK(h.pop_hellos().empty());
  h.inventory({"w1", "rival"});  // even if it said something: nothing is concluded from it
  CHECK(h.state(run) == RunState::Dispatched);
  CHECK(h.attempt(run).attempt == 1);
  CHECK(h.scheduler->snapshot(h.now).workers.at(0).why.starts_with("another life"));
  h.leave({"w1", "rival"});
  CHECK(h.scheduler->snapshot(h.now).workers.at(0).why.empty());
  h.report(run, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
}

TEST_CASE("reports: a repeat is acknowledged and changes nothing") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  const auto worker = h.run(run).progress.worker;
  h.report(run, RunState::Succeeded);
  h.report({run, 1}, worker, RunState::Succeeded);
  CHECK(h.last.changes.empty());
  CHECK(h.counter("repeated_reports") == 1);
}

TEST_CASE("reports: the repeat of a failure that was retried is not late") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(2));
  const RunId run = h.run_now("j");
  const auto worker = h.run(run).progress.worker;
  h.report(run, RunState::Failed);
  h.report({run, 1}, worker, RunState::Failed);
  CHECK(h.last.changes.attempts.empty());
}
