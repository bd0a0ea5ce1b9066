#include "master/loop/loop.h"

#include <doctest/doctest.h>

#include <deque>
#include <future>
#include <map>
#include <thread>

#include "builders.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::loop;
using namespace rota::test;
using store::ApplyOutcome;

namespace {

class FakeStore final : public store::Store {
 public:
  store::ApplyResult apply(Epoch, const core::Changes& changes) override {
    tried.push_back(changes);
    if (on_apply) on_apply();
    if (went_back) return {ApplyOutcome::Failed, "as told", {}, true, true};
    if (contradicts) return {ApplyOutcome::Failed, "as told", {}, true};
    if (outcomes.empty()) return {ApplyOutcome::Applied, "", {}};
    const ApplyOutcome outcome = outcomes.front();
    if (outcomes.size() > 1 || !keep_last) outcomes.pop_front();
    return {outcome, "as told", Epoch{9}};
  }
  void tell_progress(std::function<void()> told) override { progress = std::move(told); }

  std::function<void()> progress;
  std::deque<ApplyOutcome> outcomes;
  bool keep_last = false;
  bool contradicts = false;
  bool went_back = false;
  std::vector<core::Changes> tried;
  std::function<void()> on_apply;
};

class FakeSender final : public dispatch::Sender {
 public:
  void send(Epoch, core::Send message) override { sent.push_back(std::move(message)); }
  std::vector<core::Send> sent;
};

/// Moves on by `step` each time that it is looked at, as real ones do.
class CreepingClock final : public Clock {
 public:
  explicit CreepingClock(const Clock& below) : below_(below) {}
  WallTime wall() const override { return below_.wall(); }
  MonoTime mono() const override { return below_.mono() + (crept_ += step); }

  Micros step{0};

 private:
  const Clock& below_;
  mutable Micros crept_{0};
};

struct Rig {
  FakeClock clock;
  CreepingClock creeping{clock};
  FakeStore store;
  FakeSender sender;
  Inbox inbox;
  std::map<Token, core::ReplyBody> replies;
  std::vector<Delay> delays;
  std::vector<std::string> notices;
  std::vector<core::Violation> violations;
  core::Scheduler scheduler{Epoch{7}, {}, {}, clock.now()};
  EventLoop loop{Epoch{7},
                 {scheduler, store, sender,
                  [this](Token token, core::ReplyBody body) {
                    CHECK(replies.emplace(token, std::move(body)).second);
                  },
                  creeping, inbox, {}, [this](const Delay& delay) { delays.push_back(delay); }, {},
                  [this](const core::Notice& notice) { notices.emplace_back(notice.sentence); },
                  [this](const core::Violation& violation) { violations.push_back(violation); }}};

  void post(core::Event event) { REQUIRE(inbox.post(std::move(event))); }
  void apply_job(std::int64_t token = 1) {
    post(core::ApplyJob{Token{token}, "t", a_job("j" + std::to_string(token)).build(), nullptr, {}});
  }
  void worker() {
    post(core::WorkerSeen{a_worker("w1")});
    post(core::WorkersListed{});
    loop.turn();
    model::Inventory all;
    all.worker = {"w1", "i1"};
    post(core::HelloAnswered{all});
    loop.turn();
    sender.sent.clear();
    store.tried.clear();
  }
  ErrorCode error(std::int64_t token) { return std::get<Error>(replies.at(Token{token})).code; }
  /// Turns as its owner would, until it wants nothing or has ended.
  EventLoop::Turn turn_until_stored() {
    EventLoop::Turn turn = loop.turn();
    while (turn.storing && !turn.ended) {
      clock.advance(std::chrono::ceil<Millis>(turn.wait));
      turn = loop.turn();
    }
    return turn;
  }
};

}  // namespace

TEST_CASE("loop: what a turn decides is stored in one batch, then it leaves") {
  Rig rig;
  rig.worker();
  rig.apply_job(1);
  rig.post(core::RunNow{Token{2}, "t", "default", "j1", "", "", nullptr});
  rig.store.on_apply = [&] {
    CHECK(rig.sender.sent.empty());
    CHECK(rig.replies.empty());
  };
  rig.loop.turn();
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.store.tried[0].new_runs.size() == 1);
  CHECK(rig.sender.sent.size() == 1);
  CHECK(rig.replies.size() == 2);
}

TEST_CASE("loop: a failed or unclear batch is tried again unchanged, nothing leaves meanwhile") {
  Rig rig;
  rig.worker();
  rig.store.outcomes = {ApplyOutcome::Failed, ApplyOutcome::Unknown, ApplyOutcome::Applied};
  rig.apply_job(1);
  EventLoop::Turn turn = rig.loop.turn();
  CHECK(turn.storing);
  rig.post(core::RunNow{Token{2}, "t", "default", "j1", "", "", nullptr});
  turn = rig.loop.turn();  // before its time: nothing happens
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.inbox.size() == 1);
  CHECK(rig.replies.empty());
  CHECK(rig.notices == std::vector<std::string>{"worker is here"});
  rig.store.on_apply = [&] { CHECK(rig.replies.size() == (rig.store.tried.size() > 3 ? 1 : 0)); };
  rig.turn_until_stored();
  REQUIRE(rig.store.tried.size() == 4);
  CHECK(rig.store.tried[2].jobs.size() == 1);
  CHECK(rig.store.tried[2].new_runs.empty());
  CHECK(rig.store.tried[3].new_runs.size() == 1);
  CHECK(rig.notices == std::vector<std::string>{"worker is here", "job created"});
  CHECK(rig.replies.size() == 2);
  CHECK(rig.loop.counters().reruns == 2);
  CHECK(rig.loop.counters().unknown_applies == 1);
}

TEST_CASE("loop: a batch that is stored at once counts as no second try, though time passes") {
  Rig rig;
  rig.creeping.step = Micros{1};
  rig.worker();
  rig.apply_job(1);
  rig.turn_until_stored();
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.loop.counters().reruns == 0);
}

TEST_CASE("loop: a slow database is reported at once and then rarely") {
  Rig rig;
  Millis takes{199};
  rig.store.on_apply = [&] { rig.clock.advance(takes); };
  const auto store_one = [&](std::int64_t token) {
    rig.apply_job(token);
    rig.turn_until_stored();
  };
  store_one(1);
  CHECK(rig.delays.empty());
  takes = Millis{200};
  store_one(2);
  REQUIRE(rig.delays.size() == 1);
  CHECK(rig.delays[0].of == Delay::Of::Store);
  CHECK(rig.delays[0].longest == Millis{200});
  CHECK(rig.delays[0].times == 1);
  takes = Millis{900};
  store_one(3);
  takes = Millis{300};
  store_one(4);
  CHECK(rig.delays.size() == 1);
  rig.clock.advance(DelayWatch::kTellingPause);
  store_one(5);
  REQUIRE(rig.delays.size() == 2);
  CHECK(rig.delays[1].longest == Millis{900});
  CHECK(rig.delays[1].times == 3);
}

TEST_CASE("loop: fenced at once, what was handled is surely not done") {
  Rig rig;
  rig.apply_job(1);
  rig.store.outcomes = {ApplyOutcome::Fenced};
  const auto turn = rig.loop.turn();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::Fenced);
  CHECK(turn.ended->found == Epoch{9});
  CHECK(rig.error(1) == ErrorCode::NotLeader);
  CHECK(rig.sender.sent.empty());
  CHECK(rig.loop.counters().stale_refused == 1);
  CHECK(rig.inbox.post(core::WorkersListed{}).error().code == ErrorCode::NotLeader);
  CHECK(rig.loop.turn().ended);
}

TEST_CASE("loop: fenced after an unclear try, the answer is unknown") {
  Rig rig;
  rig.apply_job(1);
  rig.store.outcomes = {ApplyOutcome::Unknown, ApplyOutcome::Fenced};
  rig.loop.turn();
  rig.apply_job(2);
  CHECK(rig.turn_until_stored().ended);
  CHECK(rig.error(1) == ErrorCode::UnknownOutcome);
  CHECK(rig.error(2) == ErrorCode::NotLeader);
}

TEST_CASE("loop: a tick counts as late as it is when its batch is stored") {
  Rig rig;
  rig.post(core::ApplyJob{Token{1}, "t", a_job("j").every(60s).build(), nullptr, {}});
  rig.turn_until_stored();
  rig.clock.advance(60s);
  rig.store.on_apply = [&] { rig.clock.advance(3s); };
  rig.turn_until_stored();
  rig.store.on_apply = {};
  rig.clock.advance(1s);
  rig.loop.turn();
  const auto& lateness = rig.loop.snapshot()->tallies.lateness;
  CHECK(lateness.total() == 1);
  CHECK(lateness.sum() >= 3.0);
}

TEST_CASE("loop: a huge moment is stored in batches that grow shorter while the store is slow") {
  Rig rig;
  for (int i = 1; i <= 3000; ++i) {
    rig.post(core::ApplyJob{Token{i}, "t", a_job("j" + std::to_string(i)).every(60s).build(), nullptr, {}});
  }
  rig.turn_until_stored();
  while (rig.inbox.size() > 0) rig.turn_until_stored();
  rig.clock.advance(60s);
  rig.store.tried.clear();
  rig.store.on_apply = [&] { rig.clock.advance(800ms); };
  for (int i = 0; i < 100 && rig.store.tried.size() < 6; ++i) rig.loop.turn();
  REQUIRE(rig.store.tried.size() >= 6);
  CHECK(rig.store.tried[0].new_runs.size() > rig.store.tried[1].new_runs.size());
  CHECK(rig.store.tried[5].new_runs.size() <= 110);
}

TEST_CASE("loop: beats after each statement of a batch") {
  Rig rig;
  rig.apply_job(1);
  std::stop_source stop;
  int beats = 0, beats_in_batch = 0;
  rig.store.on_apply = [&] {
    const int before = beats;
    for (int i = 0; i < 3; ++i) rig.store.progress();
    beats_in_batch = beats - before;
    stop.request_stop();
  };
  rig.loop.run(stop.get_token(), [&](const char*) { ++beats; });
  CHECK(beats_in_batch == 3);
  CHECK_FALSE(rig.store.progress);
}

TEST_CASE("loop: knows the watermark that was stored, and ends the Term when the database went back") {
  Rig rig;
  rig.store.outcomes = {ApplyOutcome::Failed, ApplyOutcome::Applied};
  rig.apply_job(1);
  rig.loop.turn();
  CHECK_FALSE(rig.loop.stored_watermark());
  rig.turn_until_stored();
  REQUIRE(rig.store.tried.back().watermark);
  CHECK(rig.loop.stored_watermark() == rig.store.tried.back().watermark);

  rig.store.went_back = true;
  rig.apply_job(2);
  const auto turn = rig.turn_until_stored();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::Contradicted);
  CHECK(turn.ended->database_went_back);
  CHECK(rig.error(2) == ErrorCode::Internal);
}

TEST_CASE("loop: the Term ends when the store is lost for too long") {
  Rig rig;
  rig.apply_job(1);
  rig.store.outcomes = {ApplyOutcome::Failed};
  rig.store.keep_last = true;
  const MonoTime begin = rig.clock.mono();
  const auto turn = rig.turn_until_stored();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::StoreLost);
  CHECK(rig.clock.mono() - begin == 6s);
  CHECK(rig.error(1) == ErrorCode::NotLeader);
}

TEST_CASE("loop: a batch that can never be stored ends the Term at once, and is not asked for again") {
  Rig rig;
  rig.apply_job(1);
  rig.store.contradicts = true;
  const auto turn = rig.loop.turn();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::Contradicted);
  CHECK(rig.store.tried.size() == 1);
  CHECK(rig.sender.sent.empty());
  CHECK(rig.error(1) == ErrorCode::Internal);
  CHECK(rig.inbox.post(core::WorkersListed{}).error().code == ErrorCode::NotLeader);
}

TEST_CASE("loop: a renewal is answered after an epoch check made after it came") {
  Rig rig;
  rig.worker();
  rig.post(core::RenewAsked{Token{5}, {"w1", "i1"}});
  auto turn = rig.loop.turn();
  CHECK(rig.replies.empty());
  CHECK(turn.wait <= 200ms);
  SUBCASE("a bare one within 200 ms") {
    rig.clock.advance(200ms);
    rig.loop.turn();
    REQUIRE(rig.store.tried.size() == 1);
    CHECK(rig.store.tried[0].empty());
    CHECK(rig.replies.size() == 1);
    CHECK(rig.loop.counters().bare_checks == 1);
  }
  SUBCASE("or the next batch") {
    rig.apply_job(1);
    rig.loop.turn();
    CHECK(rig.store.tried.size() == 1);
    CHECK(rig.replies.size() == 2);
  }
  SUBCASE("never by a deposed leader") {
    rig.store.outcomes = {ApplyOutcome::Fenced};
    rig.clock.advance(200ms);
    CHECK(rig.loop.turn().ended);
    CHECK(rig.error(5) == ErrorCode::NotLeader);
  }
}

TEST_CASE("loop: many renewals are answered at once, since each holds a thread") {
  Rig rig;
  rig.worker();
  const auto most = static_cast<std::int64_t>(kRenewalsMost);
  for (std::int64_t i = 1; i < most; ++i) rig.post(core::RenewAsked{Token{i}, {"w1", "i1"}});
  rig.loop.turn();
  CHECK(rig.replies.empty());
  rig.post(core::RenewAsked{Token{most}, {"w1", "i1"}});
  rig.loop.turn();
  CHECK(rig.replies.size() == kRenewalsMost);
  CHECK(rig.loop.counters().bare_checks == 1);
}

TEST_CASE("loop: messages without rows do not wait for a renewal's check") {
  Rig rig;
  rig.worker();
  rig.post(core::RenewAsked{Token{5}, {"w1", "i1"}});
  rig.loop.turn();
  rig.post(core::HelloFailed{{"w1", "i1"}, false, "lost"});
  rig.loop.turn();
  rig.store.tried.clear();
  rig.clock.advance(150ms);
  rig.loop.turn();
  CHECK(rig.store.tried.empty());
  rig.clock.advance(50ms);
  rig.loop.turn();
  CHECK(rig.sender.sent.size() == 1);
}

TEST_CASE("loop: a snapshot that takes long is made less often, and at least once a second") {
  Rig rig;
  const auto pause_after = [&rig](Micros takes) {
    rig.clock.advance(2s);
    rig.creeping.step = takes;  // each look at the clock
    rig.apply_job(static_cast<std::int64_t>(rig.replies.size()) + 1);
    rig.loop.turn();
    rig.creeping.step = Micros{0};
    const auto shown = rig.loop.snapshot();
    rig.apply_job(static_cast<std::int64_t>(rig.replies.size()) + 1);
    Millis waited{0};
    while (rig.loop.snapshot() == shown) {
      rig.clock.advance(10ms);
      waited += 10ms;
      rig.loop.turn();
    }
    return waited;
  };
  CHECK(pause_after(Micros{0}) == 100ms);
  CHECK(pause_after(12ms) == 300ms);
  CHECK(pause_after(100ms) == 1000ms);
}

TEST_CASE("loop: a worker with a higher epoch ends the Term and nothing more is stored") {
  Rig rig;
  rig.worker();
  rig.apply_job(1);
  model::Inventory all;
  all.worker = {"w1", "i1"};
  all.highest_epoch = Epoch{8};
  rig.post(core::HelloAnswered{all});
  const auto turn = rig.loop.turn();
  REQUIRE(turn.ended);
  CHECK(turn.ended->why == TermEnd::Why::HigherEpoch);
  CHECK(rig.store.tried.empty());
  CHECK(rig.error(1) == ErrorCode::NotLeader);
}

TEST_CASE("loop: time passes by itself, and the wait leads to the next tick") {
  Rig rig;
  rig.post(core::ApplyJob{Token{1}, "t", a_job().every(300ms).build(), nullptr, {}});
  auto turn = rig.loop.turn();
  rig.store.tried.clear();
  for (int i = 0; i < 20; ++i) {
    rig.clock.advance(std::chrono::ceil<Millis>(turn.wait));
    turn = rig.loop.turn();
  }
  REQUIRE(!rig.store.tried.empty());
  CHECK(rig.store.tried[0].new_runs.size() == 1);
}

TEST_CASE("loop: a snapshot follows every change, at most every 100 ms") {
  Rig rig;
  const auto first = rig.loop.snapshot();
  REQUIRE(first);
  rig.apply_job(1);
  auto turn = rig.loop.turn();
  CHECK(rig.loop.snapshot() == first);
  CHECK(turn.wait <= 100ms);
  rig.clock.advance(100ms);
  rig.loop.turn();
  CHECK(rig.loop.snapshot()->jobs == 1);
}

TEST_CASE("loop: a stop request ends the Term, open requests are surely not done") {
  Rig rig;
  SystemClock clock;
  EventLoop loop{Epoch{7},
                 {rig.scheduler, rig.store, rig.sender,
                  [&](Token token, core::ReplyBody body) { rig.replies.emplace(token, body); },
                  clock, rig.inbox}};
  std::stop_source stop;
  stop.request_stop();
  rig.apply_job(1);
  const TermEnd end = loop.run(stop.get_token());
  CHECK(end.why == TermEnd::Why::Resigned);
  CHECK(rig.error(1) == ErrorCode::NotLeader);
}

TEST_CASE("loop: on its thread an event is handled at once, the heartbeat tells what it does") {
  SystemClock clock;
  FakeStore store;
  FakeSender sender;
  Inbox inbox;
  core::Scheduler scheduler{Epoch{7}, {}, {}, clock.now()};
  std::promise<void> answered;
  EventLoop loop{Epoch{7},
                 {scheduler, store, sender,
                  [&](Token, core::ReplyBody) { answered.set_value(); }, clock, inbox}};
  std::atomic<int> beats{0};
  std::jthread thread([&](std::stop_token stop) { loop.run(stop, [&](const char*) { ++beats; }); });
  REQUIRE(inbox.post(core::ApplyJob{Token{1}, "t", a_job().build(), nullptr, {}}));
  CHECK(answered.get_future().wait_for(120s) == std::future_status::ready);
  thread.request_stop();
  thread.join();
  CHECK(beats > 0);
}

TEST_CASE("loop: a broken invariant is told and counted once, and the Term goes on") {
  Rig rig;
  rig.worker();
  rig.loop.turn();
  CHECK(rig.violations.empty());
  core::StateSurgery::close_all(core::StateSurgery::state_of(rig.scheduler));
  for (int i = 0; i < 5; ++i) {
    rig.clock.advance(std::chrono::milliseconds{200});
    CHECK_FALSE(rig.loop.turn().ended);
  }
  REQUIRE(rig.violations.size() == 1);
  CHECK(rig.violations[0].what == "a worker with free slots gets nothing (worker w1, life i1)");
  CHECK(rig.loop.snapshot()->tallies.invariant_violations == 1);
  CHECK(rig.loop.snapshot()->tallies.first_violation == rig.violations[0].what);
  rig.apply_job(7);
  rig.turn_until_stored();
  CHECK(rig.replies.contains(Token{7}));
}
