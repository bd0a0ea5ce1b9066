// Whose turn it is, example by example. The whole is compared with a reference in turn_model_test.cpp.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::RunState;

namespace {

JobBuilder a_flood(const std::string& name) { return a_job(name).overlap(Overlap::Allow); }

RunId run_in(Harness& h, const std::string& space, const std::string& name) {
  h.handle(RunNow{Token{5}, "tester", space, name, {}, {}, nullptr});
  return std::get<Submitted>(h.last.replies.at(0).body).items.at(0).run;
}

/// Ends what the worker holds until that run has its slot; how many turns others had before it.
int turns_before(Harness& h, RunId wanted) {
  for (int turns = 0; turns < 1000; ++turns) {
    if (h.state(wanted) == RunState::Dispatched) return turns;
    for (const auto& [id, run] : h.runs) {
      if (run.progress.state != RunState::Dispatched) continue;
      h.report(id, RunState::Succeeded);
      break;
    }
  }
  return 1000;
}

}  // namespace

TEST_CASE("turns: the first run of a job comes next beside a job with 100,000 that wait") {
  Harness before;
  before.apply(a_flood("flood"));
  before.apply(a_flood("small"));
  const RunId one = before.run_now("flood");
  Recovered flood = before.recovered();
  for (std::int64_t i = 1; i < 100'000; ++i) {
    model::Run run = before.run(one);
    run.id = RunId{one.value + i};
    flood.runs.push_back(run);
  }
  Harness h(std::move(flood), {}, Epoch{8});
  h.versions = before.versions;
  h.now.wall += 60min;                 // so long have they waited
  h.now.mono += 60min;
  h.join(a_worker("w1", 1));
  const RunId small = h.run_now("small");
  CHECK(turns_before(h, small) == 1);
}

TEST_CASE("turns: a higher priority goes first, and a minute of waiting counts as one more") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_flood("low").priority(40));
  h.apply(a_flood("high").priority(45));
  h.run_now("low");
  const RunId low = h.run_now("low");
  h.run_now("high");
  const RunId high = h.run_now("high");
  CHECK(turns_before(h, high) == 2);
  CHECK(h.state(low) == RunState::Queued);
  for (int i = 0; i < 8; ++i) h.run_now("high");
  h.now.wall += 6min;                  // since its last turn
  h.now.mono += 6min;
  CHECK(turns_before(h, low) <= 2);
}

TEST_CASE("turns: an edited priority counts for runs that wait already") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_flood("a"));
  h.apply(a_flood("b"));
  h.run_now("a");
  const RunId a = h.run_now("a");
  const RunId b = h.run_now("b");
  h.apply(a_flood("a").priority(90));
  CHECK(turns_before(h, a) == 1);
  CHECK(h.state(b) == RunState::Queued);
}

TEST_CASE("turns: namespaces share the slots, however many jobs they have") {
  Harness h;
  h.join(a_worker("w1", 10));
  for (int i = 0; i < 20; ++i) h.apply(a_flood("j" + std::to_string(i)).space("many").priority(100));
  h.apply(a_flood("lone").space("one").priority(0));
  for (int i = 0; i < 10; ++i) run_in(h, "many", "j" + std::to_string(i));
  for (int i = 10; i < 20; ++i) run_in(h, "many", "j" + std::to_string(i));
  for (int i = 0; i < 10; ++i) run_in(h, "one", "lone");
  int of_one = 0;
  for (int ended = 0; ended < 5; ++ended) {
    for (const auto& [id, run] : h.runs) {
      if (run.progress.state == RunState::Dispatched && run.space == "many") {
        h.report(id, RunState::Succeeded);
        break;
      }
    }
  }
  for (const auto& [id, run] : h.runs) {
    of_one += run.space == "one" && run.progress.state == RunState::Dispatched ? 1 : 0;
  }
  CHECK(of_one == 5);
}

TEST_CASE("turns: the one-off runs of one caller count as one job") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_flood("saved"));
  h.run_now("saved");
  for (int i = 0; i < 50; ++i) h.submit({}, {}, JobId{kOneOffBit + 10 + i});
  const RunId saved = h.run_now("saved");
  CHECK(turns_before(h, saved) <= 2);
}

TEST_CASE("turns: nothing is kept of lines and namespaces that are idle") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_flood("j"));
  const RunId first = h.run_now("j");
  const RunId second = h.run_now("j");
  const SlotQueueTable& queues = StateSurgery::state_of(*h.scheduler).slot_queues();
  CHECK(queues.spaces().at("default").held == 1);
  CHECK(queues.spaces().at("default").lines == 1);
  h.report(first, RunState::Succeeded);
  h.report(second, RunState::Succeeded);
  CHECK(queues.spaces().empty());
}
