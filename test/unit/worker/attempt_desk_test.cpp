#include "worker/desk/attempt_desk.h"

#include "test/unit/worker/desk_rig.h"

namespace rota::worker::desk {

using model::Refusal;
using End = FakeRunner::End;

TEST_CASE("desk: an order is started once, and its repeat is accepted without another start") {
  DeskRig rig;
  CHECK(rig.dispatch(1) == Refusal::None);
  CHECK(rig.dispatch(1) == Refusal::None);
  CHECK(rig.runner.starts == std::vector{attempt(1)});
  CHECK(rig.desk.busy() == 1);
  CHECK(rig.desk.counts().accepted == 1);
  rig.desk.started(attempt(1), rig.life, rig.clock.wall());
  REQUIRE(rig.sink.starts.size() == 1);
  CHECK(rig.sink.starts[0].worker == rig.life);
}

TEST_CASE("desk: what it refuses is never started") {
  DeskRig rig;
  rig.start(1);
  Envelope envelope = rig.envelope;
  Refusal expected = Refusal::None;
  SUBCASE("of a deposed leader") {
    REQUIRE(rig.desk.raise_epoch("cluster-1", Epoch{6}));
    expected = Refusal::OldEpoch;
  }
  SUBCASE("for another life") {
    envelope.to.incarnation = "bb";
    expected = Refusal::WrongLife;
  }
  SUBCASE("without a voucher") {
    rig.clock.advance(DeskRig::kGrant);
    expected = Refusal::NoVoucher;
  }
  SUBCASE("without a slot") {
    rig.start(2);
    expected = Refusal::NoSlot;
  }
  SUBCASE("with a full outbox") {
    rig.sink.full = true;
    expected = Refusal::NoSlot;
  }
  SUBCASE("while draining") {
    REQUIRE(rig.desk.drain(rig.envelope, true, 1) == Refusal::None);
    expected = Refusal::Draining;
  }
  SUBCASE("for what ended here") {
    rig.start(3);
    rig.finish(3);
    rig.desk.acknowledged({attempt(3)});
    expected = Refusal::Tombstoned;
  }
  SUBCASE("for want of its handler") {
    rig.runner.unfit = Unfit{Refusal::UnknownHandler, "no handler 'x'"};
    expected = Refusal::UnknownHandler;
  }
  const auto before = rig.runner.starts;
  const auto answer = rig.desk.dispatch(envelope, {an_order(3)}).at(0);
  CHECK(answer.refusal == expected);
  CHECK(answer.detail == (expected == Refusal::UnknownHandler ? "no handler 'x'" : ""));
  CHECK(rig.runner.starts == before);
  CHECK(rig.desk.counts().refused == 1);
  CHECK(rig.desk.counts().refused_old_epoch == (expected == Refusal::OldEpoch ? 1 : 0));
}

TEST_CASE("desk: what is held is accepted again, though nothing new would be") {
  DeskRig rig;
  rig.start(1);
  rig.sink.full = true;
  rig.runner.unfit = Unfit{Refusal::Malformed, "no more"};
  REQUIRE(rig.desk.drain(rig.envelope, true, 1) == Refusal::None);
  rig.clock.advance(2 * DeskRig::kGrant);
  CHECK(rig.dispatch(1) == Refusal::None);
  CHECK(rig.runner.starts == std::vector{attempt(1)});
}

TEST_CASE("desk: a start that fails holds no slot and is refused for good") {
  DeskRig rig;
  rig.runner.start_fails = true;
  const auto answer = rig.dispatch(an_order(1));
  CHECK(answer.refusal == Refusal::NoSlot);
  CHECK(answer.detail == "no folder");
  CHECK(rig.desk.busy() == 0);
  CHECK(rig.desk.inventory().attempts.empty());
  rig.runner.start_fails = false;
  CHECK(rig.dispatch(1) == Refusal::NoSlot);
  CHECK(rig.runner.starts.empty());
}

TEST_CASE("desk: a cancel ends what runs, with the leader's grace") {
  DeskRig rig;
  rig.start(1);
  CHECK(rig.desk.cancel({Epoch{4}, rig.life}, {attempt(1)}, Millis{50}) == Refusal::OldEpoch);
  CHECK(rig.desk.cancel({Epoch{5}, {"w1", "bb"}}, {attempt(1)}, Millis{50}) == Refusal::WrongLife);
  CHECK(rig.runner.ends.empty());
  CHECK(rig.desk.cancel(rig.envelope, {attempt(1)}, Millis{50}) == Refusal::None);
  CHECK(rig.runner.ends == std::vector{End{attempt(1), EndReason::Cancelled, Millis{50}}});
}

TEST_CASE("desk: a cancel that comes while an attempt is starting is passed on again once it runs") {
  DeskRig rig;
  rig.runner.while_starting = [&] {
    REQUIRE(rig.desk.cancel(rig.envelope, {attempt(1)}, Millis{50}) == Refusal::None);
    rig.desk.hand_over();  // the first reason counts
  };
  CHECK(rig.dispatch(1) == Refusal::None);
  rig.runner.ends.clear();  // the runner did not know the attempt yet
  rig.desk.started(attempt(1), rig.life, rig.clock.wall());
  CHECK(rig.runner.ends == std::vector{End{attempt(1), EndReason::Cancelled, Millis{50}}});
  CHECK(rig.sink.starts.size() == 1);
  rig.finish(1);
  CHECK(rig.runner.ends.size() == 1);
}

TEST_CASE("desk: a cancel for an attempt that it never held ends nothing later") {
  DeskRig rig;
  REQUIRE(rig.desk.cancel(rig.envelope, {attempt(1)}, Millis{50}) == Refusal::None);
  rig.runner.ends.clear();
  rig.start(1);
  CHECK(rig.runner.ends.empty());
}

TEST_CASE("desk: the runner hears of each later voucher, and never of an earlier one") {
  DeskRig rig;
  REQUIRE(rig.runner.vouches.size() == 1);
  const MonoTime end = rig.clock.mono() + DeskRig::kGrant;
  CHECK(rig.runner.vouches.back() == end);
  rig.desk.extend_grant(rig.clock.mono() - Millis{1}, DeskRig::kGrant);
  CHECK(rig.runner.vouches.size() == 1);
  rig.desk.extend_lease(end + Millis{100});
  CHECK(rig.runner.vouches.back() == end + Millis{100});
  CHECK(rig.desk.vouched_until() == end + Millis{100});
}

TEST_CASE("desk: a lease of a life that no leader has greeted vouches for nothing") {
  DeskRig rig;
  rig.desk.begin_life({"w1", "bb"});
  rig.desk.extend_lease(rig.clock.mono() + Millis{60'000});
  CHECK(rig.runner.vouches.size() == 1);
  REQUIRE(rig.desk.hello(rig.greeting(Epoch{5})));  // greets the life before
  CHECK(rig.runner.vouches.size() == 1);
  Greeting greeting = rig.greeting(Epoch{5});
  greeting.incarnation = "bb";
  REQUIRE(rig.desk.hello(greeting));
  CHECK(rig.runner.vouches.back() == rig.clock.mono() + Millis{60'000});
}

TEST_CASE("desk: all that runs is ended once the voucher has lapsed and the runner cannot do it alone") {
  DeskRig rig;
  rig.start(1);
  Order patient = an_order(2);
  patient.disconnect_grace = Millis{300};
  REQUIRE(rig.dispatch(patient).refusal == Refusal::None);
  rig.clock.advance(DeskRig::kGrant - Millis{1});
  rig.desk.vouchers_unguarded(rig.clock.mono());
  CHECK(rig.runner.ends.empty());
  rig.clock.advance(Millis{1});
  rig.desk.vouchers_unguarded(rig.clock.mono());
  const End first{attempt(1), EndReason::Unvouched, Millis{0}};
  CHECK(rig.runner.ends == std::vector{first});
  rig.clock.advance(Millis{300});
  rig.desk.vouchers_unguarded(rig.clock.mono());
  CHECK(rig.runner.ends == std::vector{first, first, End{attempt(2), EndReason::Unvouched, Millis{0}}});
}

TEST_CASE("desk: hello answers with all that it holds, and stores the epoch first") {
  DeskRig rig;
  rig.start(1);
  const auto held = rig.desk.hello(rig.greeting(Epoch{6}));
  REQUIRE(held.has_value());
  CHECK(held->attempts.size() == 1);
  CHECK(held->highest_epoch == Epoch{6});
  CHECK(held->drain.has_value());
  CHECK(rig.leader.get().epoch == Epoch{6});
  EpochKeeper kept(rig.folder.path() + "/epochs");
  REQUIRE(kept.load());
  CHECK(kept.highest("cluster-1") == Epoch{6});
}

TEST_CASE("desk: a deposed leader is shown the higher epoch, and is not believed") {
  DeskRig rig;
  Greeting old = rig.greeting(Epoch{4});
  old.leader.address.port = 7401;
  const auto held = rig.desk.hello(old);
  REQUIRE(held.has_value());
  CHECK(held->highest_epoch == Epoch{5});
  CHECK(rig.leader.get().address.port == 7400);
}

TEST_CASE("desk: a leader of another cluster is turned away") {
  DeskRig rig;
  rig.desk.set_cluster("cluster-1");
  Greeting other = rig.greeting(Epoch{9});
  other.cluster_uuid = "cluster-2";
  const auto held = rig.desk.hello(other);
  REQUIRE_FALSE(held.has_value());
  CHECK(held.error().code == ErrorCode::Conflict);
  CHECK(rig.desk.highest_epoch() == Epoch{5});
}

TEST_CASE("desk: an overtaken drain order is ignored") {
  DeskRig rig;
  CHECK(rig.desk.drain(rig.envelope, false, 4) == Refusal::None);
  CHECK(rig.desk.drain(rig.envelope, true, 3) == Refusal::None);
  CHECK(rig.desk.drain_ack() == model::DrainAck{false, false, 4});
  CHECK(rig.desk.drain({Epoch{4}, rig.life}, true, 5) == Refusal::OldEpoch);
  CHECK(rig.dispatch(1) == Refusal::None);
  CHECK(rig.desk.drain(rig.envelope, true, 4) == Refusal::None);
  CHECK(rig.dispatch(2) == Refusal::Draining);
  REQUIRE(rig.drains.size() == 2);
  CHECK(rig.drains.back().first == model::DrainAck{true, true, 4});
  CHECK(rig.desk.inventory().drain == model::DrainAck{true, true, 4});
}

TEST_CASE("desk: a process that stops accepts nothing, even when the leader resumes it") {
  DeskRig rig;
  const WallTime at = rig.clock.wall() + Millis{1000};
  rig.desk.stop_accepting(at);
  CHECK(rig.desk.drain(rig.envelope, false, 1) == Refusal::None);
  CHECK(rig.desk.drain_ack() == model::DrainAck{true, false, 1});
  CHECK(rig.dispatch(1) == Refusal::Draining);
  REQUIRE(rig.drains.size() == 2);
  CHECK(rig.drains.back().second == at);
}

TEST_CASE("desk: a hand-over ends all that has not ended, each with its own grace") {
  DeskRig rig;
  rig.start(1);
  rig.start(2);
  rig.finish(1);
  rig.desk.hand_over();
  CHECK(rig.runner.ends == std::vector{End{attempt(2), EndReason::HandedOver, std::nullopt}});
}

TEST_CASE("desk: it claims to live only while the runner is in control") {
  DeskRig rig;
  CHECK(rig.desk.may_claim_life());
  rig.runner.in_control = false;
  CHECK_FALSE(rig.desk.may_claim_life());
}

}  // namespace rota::worker::desk
