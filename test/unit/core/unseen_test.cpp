// Attempts on workers that the ZooKeeper in use has never seen: their absence there proves nothing.
#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;

namespace {

struct Strange {
  Harness h;
  model::WorkerKey worker;
  RunId run;

  Strange() {
    worker = h.join(a_worker("w1", 1, "aaaaaaaa-1"));
    h.apply(a_job());
    run = h.run_now("j");
    h.accept(run);
    h.advance(10s);
    h.pop_dispatches();
  }
  std::int32_t attempt() { return h.attempt(run).attempt; }
  /// The next Term, through another ZooKeeper, in which nobody is.
  void lead_through_another() {
    Recovered recovered = h.recovered();
    recovered.zookeeper_number = 1;
    recovered.unseen = {worker};
    h = Harness(std::move(recovered), {}, Epoch{8});
    h.listed();
  }
};

}  // namespace

TEST_CASE("unseen: no other attempt follows by absence, and the reason is told") {
  Strange s;
  s.lead_through_another();
  s.h.advance(120s);
  CHECK(s.h.view(s.run).reason == Reason::WorkerUnseen);
  CHECK(s.h.pop_dispatches().empty());
  CHECK(s.h.attempts.empty());
}

TEST_CASE("unseen: the operator's word that such workers are gone lets the fence pass") {
  Strange s;
  s.lead_through_another();
  s.h.advance(120s);
  s.h.handle(UnseenGone{});
  s.h.advance(1s);
  REQUIRE(s.h.attempts.size() == 1);
  CHECK(s.h.attempts[0].outcome.reason == Reason::WorkerLost);
}

TEST_CASE("unseen: a worker that comes says what it holds, and once seen its absence counts") {
  Strange s;
  s.lead_through_another();
  s.h.advance(20s);
  const auto back = a_worker("w1", 1, "aaaaaaaa-2");
  s.h.handle(WorkerSeen{back});
  CHECK(s.h.lives.back().seen_in == 1);
  model::HeldAttempt held;
  held.key = s.h.attempt(s.run);
  held.state = model::HeldAttempt::State::Running;
  s.h.inventory(back.key, {held});
  s.h.advance(60s);
  CHECK(s.attempt() == 1);
  s.h.leave(back.key);
  s.h.advance(20s);
  CHECK(s.h.attempts.size() == 1);
}

TEST_CASE("unseen: when ZooKeeper is replaced under a leader, who is not in the new one is waited for") {
  Strange s;
  s.h.listing_works = false;
  s.h.handle(ZookeeperReplaced{1});
  s.h.leave(s.worker);
  s.h.listing_works = true;
  s.h.handle(WorkersListed{1});
  s.h.advance(120s);
  CHECK(s.h.attempts.empty());
  CHECK(s.h.view(s.run).reason == Reason::WorkerUnseen);
}

TEST_CASE("unseen: who stands in the first listing of the new ZooKeeper was seen there") {
  Strange s;
  s.h.handle(ZookeeperReplaced{1});
  s.h.advance(1s);
  CHECK(s.h.lives.back().seen_in == 1);
  s.h.leave(s.worker);
  s.h.advance(20s);
  CHECK(s.h.attempts.size() == 1);
}
