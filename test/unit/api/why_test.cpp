// `why` of a run and of a moment as a master answers it.
#include "api_setup.h"

#include <algorithm>

namespace rota::master::api {
namespace {

using namespace test;

thrift::Explanation why_of(TestMaster& master, std::int64_t run) {
  const auto why = master.ask([&](auto& client) {
    thrift::Explanation out;
    client.explain(out, {}, run);
    return out;
  });
  REQUIRE(why);
  return *why;
}

const thrift::WhyCheck& stop_of(const std::vector<thrift::WhyCheck>& checks) {
  const auto stop = std::ranges::find(checks, "stopped", &thrift::WhyCheck::verdict);
  REQUIRE(stop != checks.end());
  return *stop;
}

constexpr std::int64_t kWaits = (std::int64_t{1} << kIdCounterBits) + 5;

core::WorkerView busy_worker() {
  core::WorkerView worker;
  worker.info.change().key.id = "w1";
  worker.state = "busy";
  worker.holds = {RunId{77}};
  return worker;
}

/// One run waits behind two others of its job for the slot that run 77 has.
std::shared_ptr<core::Snapshot> crowded() {
  auto view = std::make_shared<core::Snapshot>();
  view->taken = kNow;
  core::RunView waits;
  waits.state = model::RunState::Queued;
  waits.reason = model::Reason::AllSlotsBusy;
  waits.place = {0, 2};
  view->waiting.add(RunId{kWaits}, waits);
  view->workers.push_back(busy_worker());
  core::LineView line;
  line.pool = "default";
  line.space = "default";
  line.runs = 3;
  line.priority = 50;
  view->lines.lines.push_back(line);
  view->lines.spaces.push_back({"default", 1, 1, 0, false});
  return view;
}

}  // namespace

TEST_CASE("why: a run in line is told its place, who has the slots, and who decided it") {
  Stored stored({a_run(kWaits, model::RunState::Queued)});
  TestMaster master(stored.memory);
  master.leader.view = crowded();
  const thrift::Explanation why = why_of(master, kWaits);
  const thrift::WhyCheck& stop = stop_of(why.checks);
  CHECK(stop.name == "slot");
  CHECK(stop.sentence.find("It is 3rd of 3 in line for pool default") != std::string::npos);
  CHECK(stop.holders == std::vector<std::string>{"run 77 on worker w1"});
  CHECK(stop.command == "rota capacity");
  REQUIRE(why.__isset.place);
  CHECK(why.place.place == 3);
  REQUIRE(why.__isset.decision);
  CHECK(why.decision.epoch == 1);
  CHECK(why.decision.leader == "test");
  CHECK(why.decision.at_ms == to_ms(kNow - std::chrono::minutes{1}));
}

TEST_CASE("why: a follower has the leader's checks, and alone it says that it knows nothing of them") {
  Stored stored({a_run(kWaits, model::RunState::Queued)});
  TestMaster leader(stored.memory);
  leader.leader.view = crowded();
  TestMaster follower(stored.memory, false);
  follower.leader.address = model::Address{"127.0.0.1", leader.server.port()};
  CHECK(stop_of(why_of(follower, kWaits).checks).name == "slot");
  leader.server.stop();
  const thrift::Explanation alone = why_of(follower, kWaits);
  for (const thrift::WhyCheck& check : alone.checks) CHECK(check.verdict == "not_known");
  CHECK(alone.decision.leader == "test");
}

TEST_CASE("why: a tick's run begins with the checks of its moment") {
  model::Run run = a_run(kWaits, model::RunState::Succeeded);
  run.kind = model::RunKind::Tick;
  run.tick = run.scheduled = run.recorded = kNow + std::chrono::minutes{1};
  Stored stored({run});
  TestMaster master(stored.memory);
  const thrift::Explanation why = why_of(master, kWaits);
  REQUIRE(why.checks.size() == kSteps);
  CHECK(why.checks.front().name == "job");
  for (const thrift::WhyCheck& check : why.checks) CHECK(check.verdict == "passed");
  const auto answer = master.ask([&](auto& client) {
    thrift::TickAnswer out;
    client.explain_tick(out, {}, "default", "nightly", to_ms(*run.tick));
    return out;
  });
  REQUIRE(answer);
  CHECK(answer->what == "fired");
  CHECK(answer->checks.size() == kSteps);
  CHECK(answer->decision.leader == "test");
}

TEST_CASE("why: of a moment that is due a master that can ask no leader says so") {
  Stored stored;
  TestMaster follower(stored.memory, false);
  const auto answer = follower.ask([&](auto& client) {
    thrift::TickAnswer out;
    client.explain_tick(out, {}, "default", "nightly", to_ms(kNow) + 60'000);
    return out;
  });
  REQUIRE(answer);
  CHECK_FALSE(answer->__isset.decision);
  CHECK(answer->checks.size() == static_cast<std::size_t>(Step::Firings) + 1);
}

}  // namespace rota::master::api
