#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Reason;
using model::RunState;

namespace {

/// A run that was accepted by w1, with w2 standing by.
struct CutOff {
  Harness h;
  model::WorkerKey w1;
  RunId run;

  explicit CutOff(JobBuilder job = a_job()) {
    w1 = h.join(a_worker("w1", 1));
    h.apply(job);
    run = h.run_now("j");
    h.accept(run);
    h.join(a_worker("w2", 1));
    h.advance(10s);  // past the grants that an older Term may have given
    h.pop_dispatches();
  }
};

}  // namespace

TEST_CASE("fence: at once when the leader granted nothing and the node is gone") {
  CutOff c;
  c.h.leave(c.w1);
  c.h.advance(1ms);
  const auto again = c.h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{c.run, 2});
  CHECK(c.h.run(c.run).progress.worker.id == "w2");
  CHECK(c.h.attempts.at(0).outcome.reason == Reason::WorkerLost);
}

TEST_CASE("fence: waits for the end of the last grant") {
  CutOff c;
  CHECK(c.h.renew(c.w1));
  c.h.advance(1s);
  c.h.leave(c.w1);
  CHECK(c.h.view(c.run).reason == Reason::WaitsForFence);
  c.h.advance(4299ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: a session that was ended leaves its worker's lease, which is waited for") {
  CutOff c;
  c.h.end_session(c.w1);
  c.h.advance(4499ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: the lease is as long as the worker says") {
  Harness h;
  model::WorkerInfo info = a_worker("w1", 1);
  info.lease = 9000ms;
  h.join(info);
  h.apply(a_job());
  h.run_now("j");
  h.join(a_worker("w2", 1));
  h.advance(20s);
  h.pop_dispatches();
  h.end_session(info.key);
  h.advance(9299ms);
  CHECK(h.pop_dispatches().empty());
  h.advance(1ms);
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: beats that were seen to have stopped shorten the wait, in whatever order that is told") {
  CutOff c;
  const MonoTime last = c.h.now.mono;
  c.h.advance(2s);
  SUBCASE("before the node's end") {
    c.h.handle(BeatsEnded{c.w1, last});
    c.h.end_session(c.w1);
  }
  SUBCASE("after it") {
    c.h.end_session(c.w1);
    c.h.handle(BeatsEnded{c.w1, last});
  }
  c.h.advance(2499ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: sessions that end again and again each leave a lease, and the longest counts") {
  CutOff c;
  for (int life = 1; life <= 20; ++life) {
    c.h.end_session({"w1", "i" + std::to_string(life)});
    c.h.advance(110ms);
    c.h.handle(WorkerSeen{a_worker("w1", 1, "i" + std::to_string(life + 1))});
    c.h.pop_hellos();
  }
  c.h.end_session({"w1", "i21"});
  c.h.advance(4499ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: the beats of a silent life with attempts are looked at, and of no other") {
  CutOff c;
  c.h.handle(WorkerSeen{a_worker("w3", 1)});
  CHECK(c.h.renew(c.w1));
  c.h.watched.clear();
  c.h.advance(1999ms);
  CHECK(c.h.watched.empty());
  c.h.advance(1ms);
  CHECK(c.h.watched == std::vector<model::WorkerKey>{c.w1});
  c.h.advance(500ms);
  CHECK(c.h.watched.size() == 2);
  CHECK(c.h.renew(c.w1));
  c.h.advance(1900ms);
  CHECK(c.h.watched.size() == 2);
}

TEST_CASE("fence: a new Term waits one grant, since an older one may have vouched") {
  Harness h;
  const auto w1 = h.join(a_worker("w1", 1));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.join(a_worker("w2", 1));
  h.pop_dispatches();
  h.leave(w1);
  h.advance(5299ms);
  CHECK(h.pop_dispatches().empty());
  h.advance(1ms);
  CHECK(h.pop_dispatches().size() == 1);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("fence: an older Term's longer grant is waited for") {
  CoreOptions options;
  options.older_grant = 20s;
  Harness h({}, options);
  const auto w1 = h.join(a_worker("w1", 1));
  h.apply(a_job());
  h.run_now("j");
  h.join(a_worker("w2", 1));
  h.pop_dispatches();
  h.leave(w1);
  h.advance(20'299ms);
  CHECK(h.pop_dispatches().empty());
  h.advance(1ms);
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: the job's disconnect grace comes on top, and what two hosts' clocks may part in it") {
  CutOff c(a_job().disconnect_grace(60s));
  c.h.leave(c.w1);
  c.h.advance(60'059ms);
  CHECK(c.h.pop_dispatches().empty());
  c.h.advance(1ms);
  CHECK(c.h.pop_dispatches().size() == 1);
}

TEST_CASE("fence: a worker that is back in time keeps its attempt") {
  CutOff c(a_job().disconnect_grace(60s));
  c.h.leave(c.w1);
  c.h.advance(30s);
  c.h.handle(WorkerSeen{a_worker("w1", 1, "i2")});
  c.h.advance(60s);
  CHECK(c.h.pop_dispatches().empty());
  c.h.inventory({"w1", "i2"}, {{{c.run, 1}, HeldAttempt::State::Running, {}, {}}});
  c.h.advance(60s);
  CHECK(c.h.state(c.run) == RunState::Running);
  CHECK(c.h.attempt(c.run).attempt == 1);
}

TEST_CASE("fence: absence must be seen by a listing that began after the fence") {
  CutOff c;
  c.h.listing_works = false;  // the leader itself is cut from ZooKeeper
  c.h.leave(c.w1);
  c.h.advance(60s);
  CHECK(c.h.pop_dispatches().empty());
  c.h.listed();  // an older listing, told late
  CHECK(c.h.pop_dispatches().empty());
  SUBCASE("still absent") {
    c.h.handle(WorkersListed{1});
    CHECK(c.h.pop_dispatches().size() == 1);
  }
  SUBCASE("it had come back under a new session, and goes on") {
    c.h.handle(WorkerSeen{a_worker("w1", 1, "i2")});
    c.h.handle(WorkersListed{1});
    c.h.inventory({"w1", "i2"}, {{{c.run, 1}, HeldAttempt::State::Running, {}, {}}});
    CHECK(c.h.pop_dispatches().empty());
    CHECK(c.h.attempt(c.run).attempt == 1);
  }
}

TEST_CASE("fence: loss never ends the run as lost") {
  CutOff c(a_job().never_again());
  c.h.leave(c.w1);
  c.h.advance(1ms);
  CHECK(c.h.state(c.run) == RunState::Lost);
  CHECK(c.h.reason(c.run) == Reason::WorkerLost);
  CHECK(c.h.pop_dispatches().empty());
}

TEST_CASE("fence: a loss does not use up the retries") {
  CutOff c(a_job().retries(1));
  c.h.leave(c.w1);
  c.h.advance(1ms);
  CHECK(c.h.run(c.run).progress.failures == 0);
  c.h.report(c.run, RunState::Failed);
  c.h.advance(1s);
  CHECK(c.h.attempt(c.run).attempt == 3);
}

TEST_CASE("fence: a job that takes its worker down is not tried in a tight loop") {
  Harness h;
  h.apply(a_job().losses(1000));
  const RunId run = h.run_now("j");
  int attempts = 0;
  for (int life = 0; life < 20; ++life) {
    const auto key = h.join(a_worker("w1", 1, "i" + std::to_string(life)));
    attempts += static_cast<int>(h.pop_dispatches().size());
    h.leave(key);
    h.advance(100ms);
  }
  CHECK(attempts <= 5);
  CHECK(h.state(run) != RunState::Lost);
}

TEST_CASE("late: the result of an attempt that was given up is kept, and changes no later one") {
  CutOff c;
  c.h.leave(c.w1);
  c.h.advance(1ms);
  c.h.report({c.run, 1}, c.w1, RunState::Succeeded);
  REQUIRE(c.h.last.changes.attempts.size() == 1);
  CHECK(c.h.last.changes.attempts[0].late);
  CHECK(c.h.state(c.run) == RunState::Dispatched);
  c.h.report({c.run, 1}, c.w1, RunState::Succeeded);
  CHECK(c.h.last.changes.empty());
  c.h.report(c.run, RunState::Failed);
  CHECK(c.h.state(c.run) == RunState::Failed);
}

TEST_CASE("late: a success is the run's result when no other attempt began") {
  CutOff c;
  c.h.leave({"w2", "i1"});
  c.h.leave(c.w1);
  c.h.advance(1ms);
  CHECK(c.h.state(c.run) == RunState::Queued);
  c.h.report({c.run, 1}, c.w1, RunState::Succeeded);
  CHECK(c.h.state(c.run) == RunState::Succeeded);
}

TEST_CASE("late: it is known as late after a takeover too") {
  CutOff c(a_job().never_again());
  c.h.leave(c.w1);
  c.h.advance(1ms);
  Recovered recovered = c.h.recovered();
  recovered.given_up = {{c.run, 1}};
  Harness h(std::move(recovered), {}, Epoch{8});
  h.report({c.run, 1}, c.w1, RunState::Succeeded);
  REQUIRE(h.last.changes.attempts.size() == 1);
  CHECK(h.last.changes.attempts[0].late);
}

TEST_CASE("renew: answered for a registered life only") {
  Harness h;
  const auto w1 = h.join(a_worker("w1"));
  CHECK(h.renew(w1));
  CHECK(!h.renew({"w1", "older"}));
  h.leave(w1);
  CHECK(!h.renew(w1));
  CHECK(h.counter("renews") == 1);
  CHECK(h.counter("renews_refused") == 2);
}

TEST_CASE("unknown: an unclear dispatch is repeated to the same life until it is answered") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.pop_dispatches();
  for (int i = 0; i < 5; ++i) {
    h.lose_answer(run);
    h.advance(200ms);
    const auto again = h.pop_dispatches();
    REQUIRE(again.size() == 1);
    CHECK(again[0].attempt == model::AttemptKey{run, 1});
  }
  h.accept(run);
  h.advance(10s);
  CHECK(h.pop_dispatches().empty());
}

TEST_CASE("unknown: a worker that does not say what it holds is sent nothing") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.pop_dispatches();
  h.lose_answer(run);
  h.handle(HelloFailed{{"w1", "i1"}, false, "cut off"});
  h.advance(10s);
  CHECK(h.pop_dispatches().empty());
  h.inventory({"w1", "i1"});
  const auto again = h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{run, 1});
}

TEST_CASE("cancel: of a cut-off attempt ends with its fence") {
  CutOff c;
  CHECK(c.h.renew(c.w1));
  c.h.leave(c.w1);
  c.h.cancel(c.run);
  CHECK(c.h.state(c.run) == RunState::Running);
  c.h.advance(5300ms);
  CHECK(c.h.state(c.run) == RunState::Lost);
  CHECK(c.h.pop_dispatches().empty());
}

TEST_CASE("cancel: of an attempt that is proven dead is a kill") {
  CutOff c;
  c.h.cancel(c.run);
  c.h.handle(WorkerSeen{a_worker("w1", 1, "i2")});
  c.h.leave(c.w1);
  c.h.inventory({"w1", "i2"});
  CHECK(c.h.state(c.run) == RunState::Killed);
}

TEST_CASE("kill: an attempt that was killed unasked is a loss") {
  CutOff c;
  c.h.report(c.run, RunState::Killed);
  CHECK(c.h.attempt(c.run).attempt == 2);
  CHECK(c.h.run(c.run).progress.failures == 0);
}
