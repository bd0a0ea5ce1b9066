// A batch that is stored beside the loop, while the next one is decided.
#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "beside_rig.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::loop;
using namespace rota::test;

TEST_CASE("loop beside: the next batch is decided while one is stored, and leaves after its own rows") {
  BesideRig rig;
  rig.begin_two();
  CHECK(rig.replies.empty());
  rig.apply_job(3);
  CHECK_FALSE(rig.loop.turn().storing);
  CHECK(rig.inbox.size() == 0);
  CHECK(rig.storing.begun.size() == 1);
  CHECK(rig.store.tried.empty());
  CHECK(rig.replies.empty());
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.store.tried.size() == 1);  // small: by the loop's own thread
  CHECK(rig.replies.size() == 3);
  CHECK(rig.loop.counters().batches == 2);
  CHECK(rig.loop.counters().beside == 1);
}

TEST_CASE("loop beside: the next large batch goes to the store before the answers of the one before leave") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  rig.loop.turn();
  rig.storing.stored();
  rig.loop.turn();
  REQUIRE(rig.storing.begun.size() == 2);
  CHECK(rig.begun_at.at(Token{1}) == 2);
  CHECK(rig.replies.size() == 2);
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.replies.size() == 4);
  CHECK(rig.loop.counters().batches == 2);
}

TEST_CASE("loop beside: what was decided before a higher epoch was heard of does not go to the store") {
  BesideRig rig;
  rig.post(core::WorkerSeen{a_worker("w1")});
  rig.loop.turn();
  rig.begin_two();
  rig.apply_job(3);
  rig.apply_job(4);
  model::Inventory all;
  all.worker = {"w1", "i1"};
  all.highest_epoch = Epoch{8};
  rig.post(core::HelloAnswered{all});
  rig.loop.turn();
  rig.storing.stored();
  const auto turn = rig.loop.turn();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::HigherEpoch);
  CHECK(rig.storing.begun.size() == 1);
  CHECK(rig.replies.size() == 4);
}

TEST_CASE("loop beside: messages without rows wait for the batch that is being stored") {
  BesideRig rig;
  rig.begin_two();
  rig.post(core::WorkerSeen{a_worker("w1")});
  rig.post(core::WorkersListed{});
  rig.loop.turn();
  CHECK(rig.sender.sent.empty());
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.sender.sent.size() == 1);
}

TEST_CASE("loop beside: a renewal that came while a batch was stored waits for a check of its own") {
  BesideRig rig;
  rig.post(core::WorkerSeen{a_worker("w1")});
  rig.post(core::WorkersListed{});
  rig.loop.turn();
  model::Inventory all;
  all.worker = {"w1", "i1"};
  rig.post(core::HelloAnswered{all});
  rig.loop.turn();
  rig.store.tried.clear();
  rig.begin_two();
  rig.post(core::RenewAsked{Token{5}, {"w1", "i1"}});
  rig.loop.turn();
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.replies.size() == 2);
  CHECK_FALSE(rig.replies.contains(Token{5}));
  rig.clock.advance(200ms);
  rig.loop.turn();
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.replies.contains(Token{5}));
}

TEST_CASE("loop beside: a batch that failed is tried again by the loop; nothing is decided meanwhile") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.loop.turn();
  rig.storing.end({ApplyOutcome::Failed, "as told", {}});
  EventLoop::Turn turn = rig.loop.turn();
  CHECK(turn.storing);
  rig.apply_job(4);
  rig.loop.turn();
  CHECK(rig.inbox.size() == 1);
  CHECK(rig.replies.empty());
  rig.clock.advance(std::chrono::ceil<Millis>(turn.wait));
  rig.loop.turn();
  REQUIRE(rig.store.tried.size() == 1);
  CHECK(rig.store.tried[0].jobs.size() == 2);
  REQUIRE(rig.storing.begun.size() == 2);
  CHECK(rig.storing.begun[1].jobs.size() == 2);  // the third, decided before, and the fourth
  CHECK(rig.replies.size() == 2);
  CHECK(rig.loop.counters().reruns == 1);
}

TEST_CASE("loop beside: when a batch can never be stored, the next one is surely not done") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.loop.turn();
  rig.storing.end({ApplyOutcome::Failed, "as told", {}, true});
  const auto turn = rig.loop.turn();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::Contradicted);
  CHECK(rig.error(1) == ErrorCode::Internal);
  CHECK(rig.error(2) == ErrorCode::Internal);
  CHECK(rig.error(3) == ErrorCode::NotLeader);
  CHECK(rig.store.tried.empty());
  CHECK(rig.sender.sent.empty());
}

TEST_CASE("loop beside: fenced after an unclear try, only the batch that was tried is unknown") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.loop.turn();
  rig.storing.end({ApplyOutcome::Unknown, "as told", {}});
  rig.store.outcomes = {ApplyOutcome::Fenced};
  rig.clock.advance(std::chrono::ceil<Millis>(rig.loop.turn().wait));
  REQUIRE(rig.loop.turn().ended);
  CHECK(rig.error(1) == ErrorCode::UnknownOutcome);
  CHECK(rig.error(3) == ErrorCode::NotLeader);
}

TEST_CASE("loop beside: an end of the Term waits for the batch that is being stored") {
  BesideRig rig;
  rig.begin_two();
  rig.apply_job(3);
  rig.loop.turn();
  SUBCASE("stored: it is answered") {
    rig.loop.end({TermEnd::Why::Resigned, "asked to stop", {}});
    CHECK(rig.storing.waits == 1);
    CHECK(std::holds_alternative<core::JobApplied>(rig.replies.at(Token{1})));
    CHECK(rig.error(3) == ErrorCode::NotLeader);
  }
  SUBCASE("unclear: so is the answer") {
    rig.storing.at_wait = {ApplyOutcome::Unknown, "as told", {}};
    rig.loop.end({TermEnd::Why::Resigned, "asked to stop", {}});
    CHECK(rig.error(1) == ErrorCode::UnknownOutcome);
    CHECK(rig.error(3) == ErrorCode::NotLeader);
  }
  SUBCASE("a higher epoch, heard of meanwhile") {
    model::Inventory all;
    all.worker = {"w1", "i1"};
    all.highest_epoch = Epoch{8};
    rig.post(core::WorkerSeen{a_worker("w1")});
    rig.post(core::HelloAnswered{all});
    CHECK_FALSE(rig.loop.turn().ended);
    CHECK(rig.replies.empty());
    rig.storing.stored();
    const auto turn = rig.loop.turn();
    REQUIRE(turn.ended);
    CHECK(turn.ended->why == TermEnd::Why::HigherEpoch);
    CHECK(std::holds_alternative<core::JobApplied>(rig.replies.at(Token{1})));
    CHECK(rig.error(3) == ErrorCode::NotLeader);
    CHECK(rig.store.tried.empty());
  }
}

TEST_CASE("loop beside: a snapshot shows nothing that is not stored") {
  BesideRig rig;
  rig.clock.advance(1s);
  rig.begin_two();
  rig.apply_job(3);
  rig.clock.advance(1s);
  rig.loop.turn();
  CHECK(rig.loop.snapshot()->jobs == 0);
  rig.storing.stored();
  rig.store.outcomes = {ApplyOutcome::Failed};
  rig.loop.turn();
  CHECK(rig.loop.snapshot()->jobs == 2);
}

TEST_CASE("loop beside: while one batch is stored, the next one is bounded") {
  BesideRig rig;
  rig.begin_two();
  for (std::int64_t i = 10; i < 40; ++i) rig.apply_job(i);
  rig.loop.turn();
  const auto turn = rig.loop.turn();
  CHECK(turn.storing);
  CHECK(turn.wait > Micros{0});
  CHECK(rig.inbox.size() == 20);
  rig.storing.stored();
  rig.loop.turn();
  REQUIRE(rig.storing.begun.size() == 2);
  CHECK(rig.storing.begun[1].jobs.size() == 10);
  rig.storing.stored();
  rig.loop.turn();
  CHECK(rig.replies.size() == 12);
}

TEST_CASE("loop beside: what is due is decided once a batch") {
  BesideRig rig;
  rig.post(core::ApplyJob{Token{9}, "t", a_job("a").every(300ms).build(), nullptr, {}});
  rig.loop.turn();
  rig.begin_two();
  rig.store.tried.clear();
  const auto runs_of = [](const std::vector<core::Changes>& batches) {
    std::vector<std::size_t> runs;
    for (const core::Changes& changes : batches) runs.push_back(changes.new_runs.size() + changes.gaps.size());
    return runs;
  };
  for (int i = 0; i < 3; ++i) {
    rig.clock.advance(300ms);
    CHECK(rig.loop.turn().wait > Micros{0});
  }
  rig.storing.stored();
  rig.loop.turn();
  CHECK(runs_of(rig.store.tried) == std::vector<std::size_t>{1});
  rig.loop.turn();
  CHECK(rig.store.tried.size() + rig.storing.begun.size() == 3);
}

TEST_CASE("loop beside: no beat while the store does not answer, though the loop turns") {
  BesideRig rig;
  std::stop_source stop;
  int beats = 0;
  rig.storing.on_wait = [&] {
    stop.request_stop();
    rig.storing.on_wait = {};
  };
  for (std::int64_t i = 1; i <= 40; ++i) rig.apply_job(i);
  rig.loop.run(stop.get_token(), [&](const char*) { ++beats; });
  CHECK(rig.loop.counters().turns == 2);
  CHECK(beats == 0);
}

TEST_CASE("loop beside: each statement that the store has answered is a beat") {
  BesideRig rig;
  std::stop_source stop;
  int beats = 0, waits = 0;
  rig.storing.on_wait = [&] {
    std::thread([&] { rig.store.progress(); }).join();  // as the thread that stores does
    if (++waits < 3) return;
    stop.request_stop();
    rig.storing.on_wait = {};
  };
  for (std::int64_t i = 1; i <= 40; ++i) rig.apply_job(i);
  rig.loop.run(stop.get_token(), [&](const char*) { ++beats; });
  CHECK(beats == 2);  // the third came together with the end
}

TEST_CASE("storing thread: stores one batch after the other, and tells each end") {
  OwnStore store;
  Inbox inbox;
  StoringThread storing(store, [&] { inbox.wake(); });
  core::Changes changes;
  changes.watermark = core::Watermark{};
  for (int i = 1; i <= 3; ++i) {
    storing.begin(Epoch{7}, changes, nullptr);
    std::optional<ApplyResult> result;
    while (!(result = storing.receive())) inbox.wait(60s, {});
    CHECK(result->outcome == ApplyOutcome::Applied);
    CHECK_FALSE(storing.receive());
    CHECK(store.tried.size() == static_cast<std::size_t>(i));
  }
}
