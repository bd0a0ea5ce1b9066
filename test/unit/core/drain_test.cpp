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

/// A worker that counts what it is told.
model::WorkerInfo counts(const std::string& id, const std::string& life = "i1") {
  model::WorkerInfo info = can_be_told(id, 2, life);
  info.drain_order = 0;
  return info;
}

/// Its node, once it has heard.
WorkerSeen heard(model::WorkerInfo info, const SendDrain& telling) {
  info.draining = telling.draining;
  info.drain_told = telling.draining;
  info.drain_order = telling.order;
  return WorkerSeen{info};
}

std::string shown(Harness& h, const std::string& id = "w1") {
  for (const WorkerView& view : h.scheduler->snapshot(h.now).workers) {
    if (view.info->key.id == id) return view.state;
  }
  return "absent";
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
  h.pop_dispatches();
  const RunId after = h.run_now("j");
  CHECK(h.pop_dispatches().empty());
  CHECK(h.reason(after) == Reason::WorkersDraining);
  h.advance(10min);
  CHECK(h.pop_cancels().empty());
  h.report(before, RunState::Succeeded);
  CHECK(h.state(before) == RunState::Succeeded);
  const auto view = h.scheduler->snapshot(h.now).workers.at(0);
  CHECK(view.state == "draining");
  CHECK(view.drain->why == "new disk");
  h.handle(wish("w1", false));
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("drain: the worker is told, again and again, until its node says that it heard") {
  Harness h;
  model::WorkerInfo info = can_be_told("w1");
  h.join(info);
  h.handle(wish("w1"));
  CHECK(h.pop_drains().size() == 1);
  h.advance(2s);
  REQUIRE(h.pop_drains().size() == 1);
  info.draining = true;
  info.drain_told = true;
  h.handle(WorkerSeen{info});
  h.advance(10s);
  CHECK(h.pop_drains().empty());
  h.handle(wish("w1", false));
  const auto told = h.pop_drains();
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
  CHECK(h.pop_drains().empty());
  CHECK(h.pop_dispatches().empty());
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
  h.pop_dispatches();
  h.handle(wish("w1", true, 5s));
  h.advance(4s);
  CHECK(h.pop_cancels().empty());
  h.advance(2s);
  CHECK(h.pop_cancels().size() == 2);
  h.report(again, RunState::Killed);
  h.report(once, RunState::Killed);
  CHECK(h.state(once) == RunState::Killed);
  CHECK(h.reason(once) == Reason::HandedOver);
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].outcome.reason == Reason::HandedOver);
  REQUIRE(h.pop_dispatches().size() == 1);
  CHECK(h.run(again).progress.worker.id == "w2");
  CHECK(h.run(again).progress.failures == 0);
}

TEST_CASE("drain: a hand-over that is told only after the backstop of the timeout stays a hand-over") {
  Harness h;
  h.join(can_be_told("w1"));
  h.apply(a_job("again").timeout(1min));
  h.apply(a_job("once").timeout(1min).retries(2).never_again());
  const RunId again = h.run_now("again");
  const RunId once = h.run_now("once");
  h.accept(again);
  h.accept(once);
  h.join(can_be_told("w2"));
  h.pop_dispatches();
  h.handle(wish("w1", true, 5s));
  h.advance(3min);  // the worker has ended them, and its reports do not arrive
  h.report(again, RunState::Killed);
  h.report(once, RunState::Killed);
  CHECK(h.state(once) == RunState::Killed);
  CHECK(h.reason(once) == Reason::HandedOver);
  h.advance(10s);
  REQUIRE(h.pop_dispatches().size() == 1);
  CHECK(h.run(again).progress.worker.id == "w2");
  CHECK(h.run(again).progress.failures == 0);
  CHECK(h.attempts.at(0).outcome.reason == Reason::HandedOver);
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
  next.pop_hellos();
  next.inventory({"w1", "i2"}, {{{run, 1}, model::HeldAttempt::State::Running, {}, {}}});
  CHECK(next.pop_drains().size() == 1);
  next.advance(6s);
  CHECK(next.pop_cancels().size() == 1);
  next.report(run, RunState::Killed);
  CHECK(next.pop_dispatches().empty());
  CHECK(next.attempts.at(0).outcome.reason == Reason::HandedOver);
  next.handle(wish("w1", false));
  CHECK(next.pop_dispatches().size() == 1);
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
  h.advance(4s);
  const auto views = h.scheduler->snapshot(h.now).workers;
  REQUIRE(views.size() == 1);
  CHECK(views[0].state == "offline");
  h.handle(wish("w1", false));
  CHECK_FALSE(h.scheduler->snapshot(h.now).workers.at(0).drain.has_value());
}

TEST_CASE("drain: a resumed worker gets nothing and is not shown online before its own word agrees") {
  Harness h;
  const model::WorkerInfo info = counts("w1");
  h.join(info);
  h.apply(a_job());
  h.handle(wish("w1"));
  h.handle(heard(info, h.pop_drains().at(0)));
  h.handle(wish("w1", false));
  const SendDrain resume = h.pop_drains().at(0);
  const RunId run = h.run_now("j");
  CHECK(h.pop_dispatches().empty());
  CHECK(h.reason(run) == Reason::WorkersDraining);
  CHECK(shown(h) == "draining");
  h.handle(heard(info, resume));
  CHECK(h.pop_dispatches().size() == 1);
  CHECK(shown(h) == "online");
}

TEST_CASE("drain: a resume before the drain's echo is told all the same, and waits for its own") {
  Harness h;
  const model::WorkerInfo info = counts("w1");
  h.join(info);
  h.apply(a_job());
  h.handle(wish("w1"));
  const SendDrain drain = h.pop_drains().at(0);
  h.handle(wish("w1", false));
  const auto resumes = h.pop_drains();
  REQUIRE(resumes.size() == 1);
  CHECK_FALSE(resumes[0].draining);
  CHECK(resumes[0].order > drain.order);
  h.run_now("j");
  CHECK(shown(h) == "draining");
  h.handle(WorkerSeen{info});  // something else of its node has changed
  h.handle(heard(info, drain));
  CHECK(h.pop_dispatches().empty());
  h.handle(heard(info, resumes[0]));
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("drain: a worker that never says that it heard of its resume gets nothing, others do") {
  Harness h;
  const model::WorkerInfo info = counts("w1");
  h.join(info);
  h.apply(a_job().overlap(model::Overlap::Allow));
  h.handle(wish("w1"));
  h.handle(heard(info, h.pop_drains().at(0)));
  h.handle(wish("w1", false));
  h.run_now("j");
  h.advance(1min);
  const auto told = h.pop_drains();
  CHECK(told.size() == 31);
  CHECK(told.front().order == told.back().order);
  CHECK(h.pop_dispatches().empty());
  CHECK(h.scheduler->snapshot(h.now).workers.at(0).why == "has not said yet that it heard of its resume");
  h.join(counts("w2"));
  CHECK(h.pop_dispatches().size() == 1);
  CHECK(h.counter("refusals") == 0);
}

TEST_CASE("drain: a leader that sees an old node believes what the worker answers to hello") {
  Harness h({}, {}, Epoch{8});
  const model::WorkerInfo info = counts("w1");  // as before the former leader told it to drain
  h.handle(WorkerSeen{info});
  h.listed();
  h.inventory(info.key, {}, model::DrainAck{true, true, 77});
  h.apply(a_job());
  h.run_now("j");
  CHECK(h.pop_dispatches().empty());
  const SendDrain resume = h.pop_drains().at(0);
  CHECK_FALSE(resume.draining);
  h.handle(WorkerSeen{info});  // still the old one
  CHECK(h.pop_dispatches().empty());
  h.handle(heard(info, {info.key, {}, true, 77}));
  CHECK(shown(h) == "draining");
  CHECK(h.pop_dispatches().empty());
  h.handle(heard(info, resume));
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("drain: a worker that refuses as draining is asked, and gets nothing while it says so") {
  Harness h;
  model::WorkerInfo info = counts("w1");
  h.join(info);
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.pop_dispatches();
  h.refuse(run, model::Refusal::Draining);
  CHECK(h.pop_hellos().size() == 1);
  h.inventory(info.key, {}, model::DrainAck{true, false, 0});
  CHECK(shown(h) == "draining");
  h.advance(4s);
  CHECK(h.pop_dispatches().empty());
  SUBCASE("its node says it too") {
    info.draining = true;
    h.handle(WorkerSeen{info});
    CHECK(shown(h) == "draining");
    CHECK(h.pop_dispatches().empty());
  }
  SUBCASE("its node never says it: it is asked again") {
    h.advance(2s);
    CHECK(h.pop_hellos().size() == 1);
    h.inventory(info.key, {}, model::DrainAck{false, false, 0});
    CHECK(shown(h) == "online");
    CHECK(h.pop_dispatches().size() == 1);
  }
}
