#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;
using model::RunState;

namespace {

model::WorkerInfo can_be_told(const std::string& id, std::int32_t slots = 2, const std::string& life = "i1") {
  model::WorkerInfo info = a_worker(id, slots, life);
  info.drain_told = false;
  return info;
}

DrainWorker wish(const std::string& id, bool draining = true, Millis deadline = 0s) {
  return {Token{99}, "ann", id, draining, deadline, "new disk"};
}

}  // namespace

TEST_CASE("drain: nothing new goes to a drained worker, what runs there finishes") {
  Harness h;
  h.join(can_be_told("w1"));
  h.apply(a_job().overlap(model::Overlap::Allow));
  const RunId before = h.run_now("j");
  h.accept(before);
  h.handle(wish("w1"));
  REQUIRE(h.last.changes.drains.size() == 1);
  CHECK(h.last.changes.drains[0].principal == "ann");
  CHECK(std::get<DrainTaken>(h.last.replies.at(0).body).running == 1);
  h.take_dispatches();
  const RunId after = h.run_now("j");
  CHECK(h.take_dispatches().empty());
  CHECK(h.reason(after) == Reason::WorkersDraining);
  h.advance(10min);
  CHECK(h.take_cancels().empty());
  h.report(before, RunState::Succeeded);
  CHECK(h.state(before) == RunState::Succeeded);
  const auto view = h.scheduler->snapshot(h.now).workers.at(0);
  CHECK(view.state == "draining");
  CHECK(view.drain->why == "new disk");
  h.handle(wish("w1", false));
  CHECK(h.take_dispatches().size() == 1);
}

TEST_CASE("drain: the worker is told, again and again, until its node says that it heard") {
  Harness h;
  model::WorkerInfo info = can_be_told("w1");
  h.join(info);
  h.handle(wish("w1"));
  CHECK(h.take_drains().size() == 1);
  h.advance(2s);
  REQUIRE(h.take_drains().size() == 1);
  info.draining = true;
  info.drain_told = true;
  h.handle(WorkerSeen{info});
  h.advance(10s);
  CHECK(h.take_drains().empty());
  h.handle(wish("w1", false));
  const auto told = h.take_drains();
  REQUIRE(told.size() == 1);
  CHECK_FALSE(told[0].draining);
}

TEST_CASE("drain: a worker of a version that cannot be told is still given nothing") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  h.handle(wish("w1"));
  h.run_now("j");
  h.advance(10s);
  CHECK(h.take_drains().empty());
  CHECK(h.take_dispatches().empty());
}

TEST_CASE("drain: at the deadline what runs is handed over, by its loss policy") {
  Harness h;
  h.join(can_be_told("w1"));
  h.apply(a_job("again").overlap(model::Overlap::Allow));
  h.apply(a_job("once").never_again());
  const RunId again = h.run_now("again");
  const RunId once = h.run_now("once");
  h.accept(again);
  h.accept(once);
  h.join(can_be_told("w2"));
  h.take_dispatches();
  h.handle(wish("w1", true, 5s));
  h.advance(4s);
  CHECK(h.take_cancels().empty());
  h.advance(2s);
  CHECK(h.take_cancels().size() == 2);
  h.report(again, RunState::Killed);
  h.report(once, RunState::Killed);
  CHECK(h.state(once) == RunState::Killed);
  CHECK(h.reason(once) == Reason::HandedOver);
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].outcome.reason == Reason::HandedOver);
  REQUIRE(h.take_dispatches().size() == 1);
  CHECK(h.run(again).progress.worker.id == "w2");
  CHECK(h.run(again).progress.failures == 0);
}

TEST_CASE("drain: a takeover and a new life of the worker keep it, its deadline too") {
  Harness h;
  h.join(can_be_told("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.accept(run);
  h.handle(wish("w1", true, 5s));
  Recovered recovered = h.recovered();
  CHECK(recovered.drains.size() == 1);
  Harness next(recovered, {}, Epoch{8});
  next.now = h.now;
  next.handle(WorkerSeen{can_be_told("w1", 2, "i2")});
  next.listed();
  next.take_hellos();
  next.inventory({"w1", "i2"}, {{{run, 1}, model::HeldAttempt::State::Running, {}, {}}});
  CHECK(next.take_drains().size() == 1);
  next.advance(6s);
  CHECK(next.take_cancels().size() == 1);
  next.report(run, RunState::Killed);
  CHECK(next.take_dispatches().empty());
  CHECK(next.attempts.at(0).outcome.reason == Reason::HandedOver);
  next.handle(wish("w1", false));
  CHECK(next.take_dispatches().size() == 1);
}

TEST_CASE("drain: a worker that nobody knows is refused, a drained one that went away is shown") {
  Harness h;
  h.listed();
  h.handle(wish("w9"));
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::NotFound);
  h.join(can_be_told("w1"));
  h.handle(wish("w1"));
  h.handle(wish("w1"));
  CHECK_FALSE(std::get<DrainTaken>(h.last.replies.at(0).body).changed);
  CHECK(h.last.changes.drains.empty());
  h.leave({"w1", "i1"});
  const auto views = h.scheduler->snapshot(h.now).workers;
  REQUIRE(views.size() == 1);
  CHECK(views[0].state == "offline");
  h.handle(wish("w1", false));
  CHECK(h.scheduler->snapshot(h.now).workers.empty());
}
