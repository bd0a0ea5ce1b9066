#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

TEST_CASE("run now: a free slot takes it at once") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Dispatched);
  CHECK(h.run(run).kind == model::RunKind::Manual);
  CHECK(!h.run(run).tick);
}

TEST_CASE("run now: ids carry the epoch and grow") {
  Harness h;
  h.apply(a_job().overlap(Overlap::Allow));
  const RunId a = h.run_now("j");
  const RunId b = h.run_now("j");
  CHECK((a.value >> kIdCounterBits) == 7);
  CHECK(b > a);
}

TEST_CASE("run now: an unknown job is not found") {
  Harness h;
  h.handle(RunNow{Token{1}, "t", "default", "nope", "", "", nullptr});
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::NotFound);
}

TEST_CASE("overlap: a run by hand is skipped as a row that names the other") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId first = h.run_now("j");
  const RunId second = h.run_now("j");
  CHECK(h.state(second) == RunState::Skipped);
  CHECK(h.reason(second) == Reason::OverlapSkipped);
  CHECK(h.run(second).progress.detail == std::to_string(first.value));
}

TEST_CASE("overlap: queue runs one after the other, up to its limit") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().overlap(Overlap::Queue).queue_limit(2));
  const RunId a = h.run_now("j");
  const RunId b = h.run_now("j");
  const RunId c = h.run_now("j");
  const RunId d = h.run_now("j");
  CHECK(h.state(b) == RunState::Waiting);
  CHECK(h.reason(b) == Reason::WaitsForRun);
  CHECK(h.state(d) == RunState::Skipped);
  CHECK(h.reason(d) == Reason::QueueFull);
  h.report(a, RunState::Failed);
  CHECK(h.state(b) == RunState::Dispatched);
  CHECK(h.state(c) == RunState::Waiting);
  h.cancel(b);
  h.report(b, RunState::Killed);
  CHECK(h.state(c) == RunState::Dispatched);
}

TEST_CASE("overlap: a cut-off attempt still excludes the next run") {
  Harness h;
  const auto w1 = h.join(a_worker("w1"));
  h.join(a_worker("w2"));
  h.apply(a_job().never_again());
  const RunId a = h.run_now("j");
  h.leave(h.run(a).progress.worker);
  h.advance(1s);
  CHECK(h.state(h.run_now("j")) == RunState::Skipped);
  h.advance(10s);
  CHECK(h.state(a) == RunState::Lost);
  CHECK(h.state(h.run_now("j")) == RunState::Dispatched);
}

TEST_CASE("overlap: an edit to allow lets the queue go") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().overlap(Overlap::Queue));
  h.run_now("j");
  const RunId b = h.run_now("j");
  h.apply(a_job().overlap(Overlap::Allow));
  CHECK(h.state(b) == RunState::Dispatched);
}

TEST_CASE("request key: a repeat gives the same run, other content a conflict") {
  Harness h;
  h.apply(a_job().overlap(Overlap::Allow));
  const RunId run = h.run_now("j", "k1", "h1");
  CHECK(h.run_now("j", "k1", "h1") == run);
  CHECK(std::get<Submitted>(h.last.replies.at(0).body).items[0].repeated);
  CHECK(h.last.changes.empty());
  CHECK(h.run_now("j", "k1", "h2") == run);
  CHECK(std::get<Submitted>(h.last.replies.at(0).body).items[0].error->code == ErrorCode::Conflict);
  const RunId one_off = h.submit("k2", "h1");
  CHECK(h.submit("k2", "h1") == one_off);
}

TEST_CASE("request key: the cache lasts its time") {
  Harness h;
  h.apply(a_job().every(24h).overlap(Overlap::Allow));
  const RunId run = h.run_now("j", "k1", "h1");
  h.advance(11min);
  CHECK(h.run_now("j", "k1", "h1") != run);
}

TEST_CASE("request key: one that was not looked up is accepted from this Term, as long as nothing is forgotten") {
  Harness h;
  h.apply(a_job().every(24h));
  const Epoch term = h.epoch;
  const MonoTime read_at = h.now.mono;
  const auto first = h.submit_unused("k1", {term, read_at});
  REQUIRE(first);
  CHECK(*h.submit_unused("k1", {term, read_at}) == *first);
  CHECK(std::get<Submitted>(h.last.replies.at(0).body).items[0].repeated);
  SUBCASE("of another Term: look it up") {
    const auto refused = h.submit_unused("k2", {Epoch{term.value - 1}, read_at});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::NotLeader);
    CHECK(h.last.changes.empty());
  }
  SUBCASE("a key that may have been stored since was forgotten: look it up") {
    h.advance(11min);
    const auto refused = h.submit_unused("k1", {term, read_at});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::NotLeader);
    CHECK_FALSE(h.submit_unused("k1", {term, read_at + 9s}));   // it was decided before, and stored after that
    CHECK(h.submit_unused("k2", {term, read_at + 11s}));
  }
}

TEST_CASE("cancel: what has not started is cancelled at once") {
  Harness h;
  h.apply(a_job());
  const RunId run = h.run_now("j");
  CHECK(h.state(run) == RunState::Queued);
  h.cancel(run);
  CHECK(h.state(run) == RunState::Cancelled);
  CHECK(h.run(run).progress.detail == "cancelled by tester: enough");
  CHECK(std::get<CancelTaken>(h.last.replies.at(0).body).state == RunState::Cancelled);
  h.cancel(run);
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::Conflict);
}

TEST_CASE("cancel: what runs is told to end, and again until it has") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(3));
  const RunId run = h.run_now("j");
  h.accept(run);
  h.cancel(run);
  CHECK(h.run(run).progress.cancel_asked);
  CHECK(h.pop_cancels().size() == 1);
  h.advance(20s);
  CHECK(h.pop_cancels().size() == 1);
  h.report(run, RunState::Killed);
  CHECK(h.state(run) == RunState::Killed);
  h.advance(60s);
  CHECK(h.pop_cancels().empty());
}

TEST_CASE("cancel: a failure after it is not retried") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(3));
  const RunId run = h.run_now("j");
  h.accept(run);
  h.cancel(run);
  h.report(run, RunState::Failed);
  CHECK(h.state(run) == RunState::Failed);
}

TEST_CASE("cancel: it is told again once an unclear dispatch is known to have arrived") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.lose_answer(run);
  h.cancel(run);
  h.pop_cancels();
  h.advance(1s);
  CHECK(h.pop_dispatches().size() > 1);  // the unclear one may still start: it must be settled
  h.accept(run);
  CHECK(h.pop_cancels().size() == 1);
}
