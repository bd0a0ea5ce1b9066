#include <doctest/doctest.h>

#include <map>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using model::Overlap;
using model::Reason;
using model::RunState;

TEST_CASE("dispatch: all attempts for one worker in a turn share one message") {
  Harness h;
  h.join(a_worker("w1", 10));
  for (int i = 0; i < 5; ++i) h.apply(a_job("j" + std::to_string(i)).every(1s));
  h.advance(1s);
  const auto calls = h.pop_dispatch_calls();
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].items.size() == 5);
}

TEST_CASE("route: round robin takes the workers in turn") {
  Harness h;
  for (const char* id : {"w1", "w2", "w3"}) h.join(a_worker(id, 100));
  h.apply(a_job().round_robin().overlap(Overlap::Allow));
  std::map<std::string, int> share;
  for (int i = 0; i < 30; ++i) ++share[h.run(h.run_now("j")).progress.worker.id];
  CHECK(share["w1"] == 10);
  CHECK(share["w2"] == 10);
  CHECK(share["w3"] == 10);
}

TEST_CASE("route: least loaded counts the share of used slots") {
  Harness h;
  h.join(a_worker("w1", 10));
  h.join(a_worker("w2", 30));
  h.apply(a_job().overlap(Overlap::Allow));
  std::map<std::string, int> share;
  for (int i = 0; i < 20; ++i) ++share[h.run(h.run_now("j")).progress.worker.id];
  CHECK(share["w1"] == 5);
  CHECK(share["w2"] == 15);
}

TEST_CASE("route: a named worker, and why it is waited for") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().on_worker("w2"));
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Queued);
  CHECK(h.reason(run) == Reason::NamedWorkerAbsent);
  h.join(a_worker("w2"));
  CHECK(h.run(run).progress.worker.id == "w2");
}

TEST_CASE("route: skips a draining worker") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  h.join(info);
  info.draining = true;
  h.handle(master::core::WorkerSeen{info});
  h.apply(a_job());
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Queued);
  info.draining = false;
  h.handle(master::core::WorkerSeen{info});
  CHECK(h.state(run) == RunState::Dispatched);
}

TEST_CASE("route: a worker serves its own pool only, also after it changed") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  h.join(info);
  h.apply(a_job().pool("gpu"));
  const RunId run = h.run_now("j");
  CHECK(h.reason(run) == Reason::NoWorkerInPool);
  info.pool = "gpu";
  h.handle(master::core::WorkerSeen{info});
  CHECK(h.state(run) == RunState::Dispatched);
}

TEST_CASE("route: a run fails on a worker without its handler although another one knows it") {
  Harness h;
  h.join(a_worker("w1", 100));
  model::WorkerInfo knows = a_worker("w2", 3);
  knows.handlers = {"command", "sums"};
  h.join(knows);
  for (const bool in_turn : {false, true}) {
    JobBuilder job = a_job(in_turn ? "turns" : "loads").handler("sums").overlap(Overlap::Allow);
    h.apply(in_turn ? job.round_robin() : job);
  }
  const RunId first = h.run_now("turns");
  for (const RunId run : {first, h.run_now("loads"), h.run_now("turns")}) {
    CHECK(h.run(run).progress.worker.id == "w2");
  }
  const RunId waits = h.run_now("loads");
  CHECK(h.view(waits).reason == Reason::AllSlotsBusy);
  CHECK(h.view(waits).detail == "1 of 2 workers there know handler sums");
  h.report(first, RunState::Succeeded);
  CHECK(h.run(waits).progress.worker.id == "w2");
}

TEST_CASE("route: while nobody knows a handler its runs wait and say so") {
  Harness h;
  h.apply(a_job().handler("sums").overlap(Overlap::Allow));
  h.apply(a_job("named").handler("sums").on_worker("w1"));
  const RunId run = h.run_now("j"), named = h.run_now("named");
  h.listed();
  CHECK(h.view(run).reason == Reason::NoWorkerInPool);
  h.join(a_worker("w1"));
  CHECK(h.view(run).reason == Reason::HandlerUnknown);
  CHECK(h.view(run).detail == "no worker of pool default knows handler sums");
  CHECK(h.view(named).detail == "worker w1 does not know handler sums");
  model::WorkerInfo knows = a_worker("w2");
  knows.handlers = {"sums"};
  h.join(knows);
  CHECK(h.run(run).progress.worker.id == "w2");
  h.end_session(knows.key);
  CHECK(h.view(h.run_now("j")).reason == Reason::HandlerUnknown);
  knows.key.id = "w1";
  knows.key.incarnation = "i2";
  h.leave({"w1", "i1"});
  h.join(knows);  // the program was exchanged for one with the handler
  CHECK(h.run(named).progress.worker == knows.key);
}

TEST_CASE("route: a new leader knows the handlers of runs and of edited jobs, too") {
  Harness before;
  before.apply(a_job().handler("sums").overlap(Overlap::Allow));
  const RunId old = before.run_now("j");
  before.apply(a_job().handler("products").overlap(Overlap::Allow));
  const RunId young = before.run_now("j");

  Harness h(before.recovered(), {}, Epoch{8});
  model::WorkerInfo sums = a_worker("w1"), products = a_worker("w2");
  sums.handlers = {"sums"};
  products.handlers = {"products"};
  h.join(products);
  CHECK(h.state(old) == RunState::Queued);
  CHECK(h.run(young).progress.worker.id == "w2");
  h.join(sums);
  CHECK(h.run(old).progress.worker.id == "w1");
}

TEST_CASE("route: so many handlers that not each has an order of its own") {
  Harness h;
  constexpr int kHandlers = 400;
  for (int at = 0; at < 4; ++at) {
    model::WorkerInfo info = a_worker("w" + std::to_string(at), kHandlers);
    for (int i = at; i < kHandlers; i += 4) info.handlers.push_back("h" + std::to_string(i));
    h.join(info);
  }
  for (int i = 0; i < kHandlers; ++i) h.apply(a_job("j" + std::to_string(i)).handler("h" + std::to_string(i)));
  for (int i = 0; i < kHandlers; ++i) {
    const RunId run = h.run_now("j" + std::to_string(i));
    REQUIRE(h.run(run).progress.worker.id == "w" + std::to_string(i % 4));
  }
}

TEST_CASE("queue: every waiting run says why, the reason follows the truth") {
  Harness h;
  h.apply(a_job());
  const RunId run = h.run_now("j");
  CHECK(h.view(run).reason == Reason::WorkersSettling);
  h.listed();
  CHECK(h.view(run).reason == Reason::NoWorkerInPool);
}

TEST_CASE("queue: jobs take turns, one flood does not starve the others") {
  Harness h;
  h.join(a_worker("w1", 1));
  const JobId flood = h.apply(a_job("flood").overlap(Overlap::Allow));
  h.apply(a_job("small").overlap(Overlap::Allow));
  RunId running = h.run_now("flood");
  for (int i = 0; i < 50; ++i) h.run_now("flood");
  const RunId small = h.run_now("small");
  for (int i = 0; i < 2 && h.state(small) == RunState::Queued; ++i) {
    h.report(running, RunState::Succeeded);
    for (const RunId id : h.runs_of(flood)) {
      if (h.state(id) == RunState::Dispatched) running = id;
    }
  }
  CHECK(h.state(small) == RunState::Dispatched);
}

TEST_CASE("queue: within a job the oldest goes first") {
  Harness h;
  h.apply(a_job().overlap(Overlap::Allow));
  const RunId a = h.run_now("j");
  const RunId b = h.run_now("j");
  h.join(a_worker("w1", 1));
  CHECK(h.state(a) == RunState::Dispatched);
  CHECK(h.state(b) == RunState::Queued);
}

TEST_CASE("slots: never more attempts than slots") {
  Harness h;
  h.join(a_worker("w1", 2));
  h.apply(a_job().overlap(Overlap::Allow));
  for (int i = 0; i < 5; ++i) h.run_now("j");
  CHECK(h.pop_dispatches().size() == 2);
}

TEST_CASE("slots: an attempt that could not be killed keeps its slot") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job().overlap(Overlap::Allow));
  const RunId a = h.run_now("j");
  const RunId b = h.run_now("j");
  h.report(a, RunState::KillFailed);
  CHECK(h.state(a) == RunState::KillFailed);
  CHECK(h.state(b) == RunState::Queued);
}

TEST_CASE("slots: an attempt of which only the cleanup failed gives its slot back, and ends its run") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job().overlap(Overlap::Allow).retries(3));
  const RunId a = h.run_now("j");
  const RunId b = h.run_now("j");
  model::AttemptReport line;
  line.key = h.attempt(a);
  line.worker = h.run(a).progress.worker;
  line.what = model::AttemptReport::What::Finished;
  line.outcome.state = RunState::KillFailed;
  line.outcome.reason = Reason::CleanupFailed;
  h.handle(Reported{Token{7'000'000}, line.worker, {line}});
  CHECK(h.state(a) == RunState::KillFailed);
  CHECK(h.reason(a) == Reason::CleanupFailed);
  CHECK(h.state(b) == RunState::Dispatched);
}

TEST_CASE("refusal: no slot, draining, no voucher choose again; that worker rests a moment") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.refuse(run, model::Refusal::NoSlot);
  CHECK(h.state(run) == RunState::Queued);
  CHECK(h.run(run).progress.detail == "w1 did not take attempt 1: said no");
  h.join(a_worker("w2", 1));
  CHECK(h.run(run).progress.worker.id == "w2");
  CHECK(h.attempt(run).attempt == 2);
  CHECK(h.run(run).progress.detail.empty());
  CHECK(h.attempts.empty());
}

TEST_CASE("refusal: of a run that is to be cancelled it is the end, and says by whom") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.cancel(run);
  h.refuse(run, model::Refusal::NoSlot);
  CHECK(h.state(run) == RunState::Cancelled);
  CHECK(h.run(run).progress.detail.starts_with("cancelled by "));
}

TEST_CASE("refusal: it is for good in that life, so another choice follows an unclear dispatch too") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.lose_answer(run);
  h.advance(200ms);
  h.join(a_worker("w2", 1));
  h.refuse(run, model::Refusal::NoSlot);
  CHECK(h.run(run).progress.worker.id == "w2");
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("refusal: an older epoch ends the Term") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  h.refuse(h.run_now("j"), model::Refusal::OldEpoch);
  CHECK(h.last.term_ends.has_value());
}

TEST_CASE("refusal: another life asks for the inventory, a tombstone says that the attempt is over") {
  Harness h;
  const auto w1 = h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  SUBCASE("wrong life") {
    h.refuse(run, model::Refusal::WrongLife);
    CHECK(h.pop_hellos().size() == 1);
    h.pop_dispatches();
    h.inventory(w1);
    CHECK(h.pop_dispatches().size() == 1);
    CHECK(h.attempt(run).attempt == 1);
  }
  SUBCASE("tombstone") {
    h.refuse(run, model::Refusal::Tombstoned);
    CHECK(h.pop_hellos().empty());  // an inventory tells the newest tombstones only: no end to the asking
    CHECK(h.attempt(run).attempt == 2);
    CHECK(h.attempts.at(0).outcome.reason == Reason::AttemptDied);
  }
}
