// A batch that is put into statements while the one before is committed.
#include <doctest/doctest.h>

#include "beside_rig.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::loop;
using namespace rota::test;

TEST_CASE("loop beside: the next large batch is prepared while a COMMIT is awaited, and is closed from then on") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  rig.loop.turn();
  CHECK(rig.storing.prepared.empty());  // the database is still busy with the rows of the first
  rig.storing.written();
  rig.loop.turn();
  REQUIRE(rig.storing.prepared.size() == 1);
  rig.apply_job(5);
  rig.loop.turn();
  CHECK(rig.storing.begun.size() == 1);
  CHECK(rig.replies.empty());
  rig.storing.stored();
  rig.loop.turn();
  REQUIRE(rig.storing.begun.size() == 2);
  CHECK(rig.storing.begun_as_prepared[1]);
  CHECK(rig.storing.begun[1].jobs.size() == 2);
  CHECK(rig.begun_at.at(Token{1}) == 2);
  CHECK(rig.replies.size() == 2);
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.replies.size() == 5);  // the fifth: small, by the loop's own thread
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.loop.counters().prepared == 1);
}

TEST_CASE("loop beside: a small batch is not prepared") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.storing.written();
  rig.loop.turn();
  CHECK(rig.storing.prepared.empty());
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.replies.size() == 3);
}

TEST_CASE("loop beside: a prepared batch waits until the one before is stored after all") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  rig.storing.written();
  rig.loop.turn();
  REQUIRE(rig.storing.prepared.size() == 1);
  SUBCASE("failed") { rig.storing.end({ApplyOutcome::Failed, "as told", {}}); }
  SUBCASE("unclear") { rig.storing.end({ApplyOutcome::Unknown, "as told", {}}); }
  const EventLoop::Turn turn = rig.loop.turn();
  CHECK(turn.storing);
  CHECK(rig.storing.begun.size() == 1);
  CHECK(rig.replies.empty());
  rig.clock.advance(std::chrono::ceil<Millis>(turn.wait));
  rig.loop.turn();
  CHECK(rig.store.tried.size() == 1);
  REQUIRE(rig.storing.begun.size() == 2);
  CHECK(rig.storing.begun_as_prepared[1]);
  CHECK(rig.replies.size() == 2);
}

TEST_CASE("loop beside: what was prepared is surely not done when the Term ends") {
  BesideRig rig;
  rig.post(core::WorkerSeen{a_worker("w1")});
  rig.loop.turn();
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  rig.storing.written();
  rig.loop.turn();
  rig.apply_job(5);
  rig.loop.turn();
  REQUIRE(rig.storing.prepared.size() == 1);
  SUBCASE("the one before can never be stored") {
    rig.storing.end({ApplyOutcome::Failed, "as told", {}, true});
    REQUIRE(rig.loop.turn().ended);
    CHECK(rig.error(1) == ErrorCode::Internal);
  }
  SUBCASE("another epoch is in force") {
    rig.storing.end({ApplyOutcome::Fenced, "as told", Epoch{9}});
    REQUIRE(rig.loop.turn().ended);
    CHECK(rig.error(1) == ErrorCode::NotLeader);
  }
  SUBCASE("asked to stop") {
    rig.loop.end({TermEnd::Why::Resigned, "asked to stop", {}});
    CHECK(std::holds_alternative<core::JobApplied>(rig.replies.at(Token{1})));
  }
  SUBCASE("a higher epoch, heard of meanwhile") {
    model::Inventory all;
    all.worker = {"w1", "i1"};
    all.highest_epoch = Epoch{8};
    rig.post(core::HelloAnswered{all});
    CHECK_FALSE(rig.loop.turn().ended);
    rig.storing.stored();
    REQUIRE(rig.loop.turn().ended);
    CHECK(std::holds_alternative<core::JobApplied>(rig.replies.at(Token{1})));
  }
  CHECK(rig.error(3) == ErrorCode::NotLeader);
  CHECK(rig.error(5) == ErrorCode::NotLeader);
  CHECK(rig.replies.size() == 5);
  CHECK(rig.storing.begun.size() == 1);
}

TEST_CASE("loop beside: a snapshot shows a prepared batch once that is stored") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  rig.clock.advance(1s);
  rig.storing.written();
  rig.loop.turn();
  rig.apply_job(5);
  rig.apply_job(6);
  rig.loop.turn();
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.loop.snapshot()->jobs < 4);
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.loop.snapshot()->jobs == 4);
}
