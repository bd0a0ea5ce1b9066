// Labels that a job asks of its worker.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "common/model/worker_labels.h"
#include "harness.h"

using namespace rota;
using namespace std::chrono_literals;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;
using model::RouteKind;
using model::RunState;

namespace {

model::WorkerInfo labelled(const char* id, std::map<std::string, std::string> labels, std::int32_t slots = 4) {
  model::WorkerInfo info = a_worker(id, slots);
  info.labels = std::move(labels);
  return info;
}

}  // namespace

TEST_CASE("select: a label is one of the words that are asked for") {
  CHECK(model::are_selected({{"zone", "fin"}, {"os", "deb13"}}, {{"os", "deb12, deb13"}, {"zone", "fin"}}));
  CHECK_FALSE(model::are_selected({{"zone", "fin"}}, {{"os", "deb12"}, {"zone", "fin"}}));
  CHECK_FALSE(model::are_selected({{"os", "deb1"}}, {{"os", "deb12,deb13"}}));
  CHECK_FALSE(model::are_selected({{"os", "deb12,deb13"}}, {{"os", "deb12,deb13"}}));
  CHECK(model::are_selected({}, {}));
}

TEST_CASE("select: a run goes to workers with its labels, by whatever route") {
  for (int kind = 0; kind <= static_cast<int>(RouteKind::FastestResponse); ++kind) {
    const auto route = static_cast<RouteKind>(kind);
    Harness h;
    h.join(labelled("w1", {{"os", "deb11"}}, 100));
    h.join(labelled("w2", {{"os", "deb13"}}, 100));
    h.join(labelled("w3", {}, 100));
    JobBuilder job = a_job().route(route).select({{"os", "deb12,deb13"}}).overlap(model::Overlap::Allow);
    h.apply(route == RouteKind::Named ? job.on_worker("w2") : job);
    for (int i = 0; i < 20; ++i) CHECK(h.run(h.run_now("j")).progress.worker.id == "w2");
  }
}

TEST_CASE("select: while no worker has its labels a run waits and says so, also on the one that it names") {
  Harness h;
  h.join(labelled("w1", {{"zone", "ops"}}));
  h.apply(a_job().select({{"os", "deb12,deb13"}, {"zone", "fin"}}));
  h.apply(a_job("named").on_worker("w1").select({{"zone", "fin"}}));
  const RunId run = h.run_now("j"), named = h.run_now("named");
  CHECK(h.view(run).reason == Reason::NoWorkerInPool);
  CHECK(h.view(run).detail == "0 of 1 workers there have the labels os=deb12,deb13, zone=fin");
  CHECK(h.view(named).reason == Reason::NamedWorkerAbsent);
  h.handle(WorkerSeen{labelled("w1", {{"zone", "fin"}, {"os", "deb12"}})});  // labels changed while it runs
  CHECK(h.run(run).progress.worker.id == "w1");
  CHECK(h.run(named).progress.worker.id == "w1");
}

TEST_CASE("select: a run that waits for the few with its labels says how many there are") {
  Harness h;
  h.join(labelled("w1", {{"zone", "fin"}}, 1));
  h.join(labelled("w2", {{"zone", "ops"}}, 9));
  h.apply(a_job().select({{"zone", "fin"}}).overlap(model::Overlap::Allow));
  CHECK(h.run(h.run_now("j")).progress.worker.id == "w1");
  const RunId waits = h.run_now("j");
  CHECK(h.view(waits).reason == Reason::AllSlotsBusy);
  CHECK(h.view(waits).detail == "1 of 2 workers there have the labels zone=fin");
}

TEST_CASE("select: a handler that nobody with the labels knows is told as such") {
  Harness h;
  model::WorkerInfo other = labelled("w1", {{"zone", "ops"}});
  other.handlers = {"command", "sums"};
  h.join(other);
  h.join(labelled("w2", {{"zone", "fin"}}));
  h.apply(a_job().handler("sums").select({{"zone", "fin"}}));
  CHECK(h.view(h.run_now("j")).reason == Reason::HandlerUnknown);
}

TEST_CASE("select: a new leader knows the labels of runs and of edited jobs, too") {
  Harness before;
  before.apply(a_job().select({{"zone", "fin"}}).overlap(model::Overlap::Allow));
  const RunId old = before.run_now("j");
  before.apply(a_job().select({{"zone", "ops"}}).overlap(model::Overlap::Allow));
  const RunId young = before.run_now("j");
  Harness h(before.recovered(), {}, Epoch{8});
  h.join(labelled("w1", {{"zone", "ops"}}));
  CHECK(h.state(old) == RunState::Queued);
  CHECK(h.run(young).progress.worker.id == "w1");
  h.join(labelled("w2", {{"zone", "fin"}}));
  CHECK(h.run(old).progress.worker.id == "w2");
}

TEST_CASE("prefer: a run waits for a worker with the labels, and takes any when its time is over") {
  Harness h;
  h.join(labelled("w1", {{"rack", "r7"}}, 1));
  h.join(labelled("w2", {{"rack", "r1"}}, 9));
  h.apply(a_job().prefer({{"rack", "r7,r8"}}, 2min).overlap(model::Overlap::Allow));
  CHECK(h.run(h.run_now("j")).progress.worker.id == "w1");
  const RunId waits = h.run_now("j");
  CHECK(h.view(waits).reason == Reason::AllSlotsBusy);
  CHECK(h.view(waits).detail == "it waits for one of 1 workers with the labels rack=r7,r8, for 2m at most (prefer)");
  h.advance(2min - 1ms);
  h.tick();
  CHECK(h.state(waits) == RunState::Queued);
  h.advance(1ms);
  h.tick();
  CHECK(h.run(waits).progress.worker.id == "w2");
}

TEST_CASE("prefer: a worker with the labels that comes meanwhile gets it at once") {
  Harness h;
  h.join(labelled("w1", {{"rack", "r1"}}));
  h.apply(a_job().prefer({{"rack", "r7"}}, 2min));
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Queued);
  h.advance(1min);
  h.join(labelled("w2", {{"rack", "r7"}}));
  CHECK(h.run(run).progress.worker.id == "w2");
  h.advance(1min);
  h.tick();
  CHECK(h.run(run).progress.worker.id == "w2");
}

TEST_CASE("prefer: goes on top of select, which holds afterwards too") {
  Harness h;
  h.join(labelled("w1", {{"rack", "r7"}, {"zone", "ops"}}));
  h.join(labelled("w2", {{"rack", "r1"}, {"zone", "fin"}}));
  h.apply(a_job().select({{"zone", "fin"}}).prefer({{"rack", "r7"}}, 1min));
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Queued);
  h.advance(1min);
  h.tick();
  CHECK(h.run(run).progress.worker.id == "w2");
}

TEST_CASE("prefer: a new leader counts from the moment at which the run was recorded") {
  Harness before;
  before.join(labelled("w1", {{"rack", "r1"}}));
  before.apply(a_job().prefer({{"rack", "r7"}}, 2min));
  const RunId run = before.run_now("j");
  before.advance(90s);
  before.tick();
  CHECK(before.state(run) == RunState::Queued);
  Harness h(before.recovered(), {}, Epoch{8});
  h.advance(90s);  // its clock begins where that of the one before began
  h.tick();
  h.join(labelled("w1", {{"rack", "r1"}}));
  CHECK(h.state(run) == RunState::Queued);
  h.advance(30s);
  h.tick();
  CHECK(h.run(run).progress.worker.id == "w1");
}

TEST_CASE("prefer: a retry waits for the labels anew") {
  Harness h;
  h.join(labelled("w1", {{"rack", "r1"}}));
  h.apply(a_job().prefer({{"rack", "r7"}}, 1min).retries(1));
  const RunId run = h.run_now("j");
  h.advance(1min);
  h.tick();
  REQUIRE(h.run(run).progress.worker.id == "w1");
  h.report(run, RunState::Failed);
  h.advance(59s);
  h.tick();
  CHECK(h.state(run) != RunState::Dispatched);
  h.advance(2min);
  h.tick();
  CHECK(h.run(run).progress.worker.id == "w1");
}
