#include <doctest/doctest.h>

#include "test/unit/worker/desk_rig.h"
#include "test/unit/worker/fake_leader.h"
#include "worker/report/reporter.h"

namespace rota::worker::desk {

using model::Refusal;
using State = model::HeldAttempt::State;

TEST_CASE("desk: an outcome is reported once, and held until the leader has acknowledged it") {
  DeskRig rig;
  rig.start(1);
  rig.desk.ended(attempt(1), rig.life, an_outcome(rig.clock.wall()));
  CHECK(rig.state_of(1) == State::Running);  // not synced yet, so a crash would forget it
  rig.desk.stored({rig.sink.outcomes.back()});
  CHECK(rig.state_of(1) == State::Finished);
  CHECK(rig.runner.stored == std::vector{attempt(1)});
  CHECK(rig.desk.busy() == 0);

  CHECK(rig.dispatch(1) == Refusal::None);  // the leader has not heard of it yet
  CHECK(rig.sink.outcomes.size() == 1);
  CHECK(rig.runner.starts.size() == 1);
  const auto told = rig.desk.hello(rig.greeting(Epoch{6}));
  REQUIRE(told->attempts.size() == 1);
  CHECK(told->attempts[0].outcome.state == model::RunState::Succeeded);

  rig.desk.acknowledged({attempt(1)});
  CHECK(rig.state_of(1) == State::Tombstone);
  CHECK(rig.runner.acknowledged == std::vector{attempt(1)});
  CHECK(rig.desk.counts().ended[model::RunState::Succeeded] == 1);
}

TEST_CASE("desk: a report that the leader did not acknowledge is sent again, and then only a tombstone is left") {
  testing::TemporaryFolder folder;
  testing::Shared<int> requests;
  testing::Shared<bool> may_acknowledge;
  testing::FakeLeader leader{{[&](const thrift::ReportRequest& request) {
    std::vector<thrift::AttemptKey> known;
    if (may_acknowledge.get()) {
      for (const thrift::Report& report : request.reports) known.push_back(report.attempt);
    }
    requests.change([](int& count) { ++count; });
    return known;
  }}};
  const model::WorkerKey life{"w1", "aa"};
  report::ReporterOptions options;
  options.outbox_file = folder.path() + "/outbox";
  report::Reporter reporter(options, leader.address(), [&] { return life; });
  REQUIRE(reporter.open());
  SystemClock clock;
  FakeRunner runner;
  EpochKeeper epochs(folder.path() + "/epochs");
  LeaderAddress address;
  AttemptDesk desk({.slots = 1}, {runner, reporter, epochs, address, clock});
  testing::Shared<bool> is_acknowledged;
  reporter.start([&](const auto& reports) { desk.stored(reports); },
                 [&](const auto& keys) {
                   desk.acknowledged(keys);
                   is_acknowledged.change([](bool& is) { is = true; });
                 });
  REQUIRE(desk.open({}));
  desk.begin_life(life);
  desk.extend_grant(clock.mono(), Millis{3'600'000});
  REQUIRE(desk.dispatch({Epoch{1}, life}, {an_order(1)}).at(0).refusal == Refusal::None);
  desk.started(attempt(1), life, clock.wall());
  desk.ended(attempt(1), life, an_outcome(clock.wall()));
  REQUIRE(requests.becomes([](int count) { return count >= 2; }));
  CHECK(desk.inventory().attempts.at(0).state == State::Finished);
  may_acknowledge.change([](bool& may) { may = true; });
  REQUIRE(is_acknowledged.becomes([](bool is) { return is; }));
  CHECK(desk.inventory().attempts.at(0).state == State::Tombstone);
  CHECK(desk.dispatch({Epoch{1}, life}, {an_order(1)}).at(0).refusal == Refusal::Tombstoned);
  reporter.stop();
}

TEST_CASE("desk: the next start tells what was not acknowledged, and adopts what runs") {
  model::AttemptReport unreported;
  unreported.key = attempt(1);
  unreported.worker = {"w1", "old"};
  unreported.what = model::AttemptReport::What::Finished;
  unreported.outcome.state = model::RunState::Failed;
  DeskRig rig({unreported}, {{attempt(1), {"w1", "old"}, {}, {}}, {attempt(2), {"w1", "old"}, {}, {}}});
  CHECK(rig.runner.unreported == std::set{attempt(1)});
  CHECK(rig.runner.adopted == std::vector{false, true});  // the outcome of the first is safe
  CHECK(rig.state_of(1) == State::Finished);
  CHECK(rig.state_of(2) == State::Running);
  CHECK(rig.desk.busy() == 1);
  CHECK(rig.desk.counts().adopted == 1);
  CHECK(rig.dispatch(2) == Refusal::None);
  CHECK(rig.runner.starts.empty());
}

TEST_CASE("desk: an adopted attempt keeps its disconnect grace") {
  DeskRig rig({}, {{attempt(2), {"w1", "old"}, {}, Millis{300}}});
  rig.clock.advance(DeskRig::kGrant);
  rig.desk.vouchers_unguarded(rig.clock.mono());
  CHECK(rig.runner.ends.empty());
  rig.clock.advance(Millis{300});
  rig.desk.vouchers_unguarded(rig.clock.mono());
  CHECK(rig.runner.ends.size() == 1);
}

TEST_CASE("desk: what an attempt says is passed on while it is held, under the life that accepted it") {
  DeskRig rig;
  rig.start(1);
  rig.desk.begin_life({"w1", "bb"});
  model::RunNote note;
  note.run = RunId{1};
  note.attempt = 1;
  note.percent = 40;
  rig.desk.said(note);
  REQUIRE(rig.sink.notes.size() == 1);
  CHECK(rig.sink.notes[0].key == attempt(1));
  CHECK(rig.sink.notes[0].worker == rig.life);
  CHECK(rig.sink.notes[0].note->percent == 40);
  rig.finish(1);
  rig.desk.acknowledged({attempt(1)});
  rig.desk.said(note);
  CHECK(rig.sink.notes.size() == 1);
}

}  // namespace rota::worker::desk
