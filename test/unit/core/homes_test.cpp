// A worker id that comes up on another host, or on an emptied state folder, while attempts of it may live.
#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;

namespace {

/// A run that w1 holds, on the home "aaaaaaaa"; vouched for by the leader for five seconds more.
struct Moved {
  Harness h;
  model::WorkerKey old_home;
  RunId run;

  Moved() {
    old_home = h.join(a_worker("w1", 1, "aaaaaaaa-1"));
    h.apply(a_job());
    run = h.run_now("j");
    h.accept(run);
    h.advance(10s);  // past the grants that an older Term may have given
    CHECK(h.renew(old_home));
    h.pop_dispatches();
    h.leave(old_home);
  }

  model::WorkerKey come_up(const std::string& incarnation) {
    const auto info = a_worker("w1", 1, incarnation);
    h.handle(WorkerSeen{info});
    return info.key;
  }
};

}  // namespace

TEST_CASE("home: a life on another host proves nothing of the first one's attempts") {
  Moved m;
  const auto other = m.come_up("bbbbbbbb-1");
  CHECK(m.h.pop_hellos().empty());
  CHECK_FALSE(m.h.renew(other));
  CHECK(m.h.view(m.run).reason == Reason::WaitsForFence);
  m.h.advance(5299ms);
  CHECK(m.h.attempt(m.run).attempt == 1);
  m.h.advance(1ms);
  CHECK(m.h.attempts.at(0).outcome.reason == Reason::WorkerLost);
}

TEST_CASE("home: after the fence the new host is let in and gets the run") {
  Moved m;
  const auto other = m.come_up("bbbbbbbb-1");
  m.h.advance(6s);
  REQUIRE(m.h.pop_hellos().size() == 1);
  m.h.inventory(other);
  CHECK(m.h.renew(other));
  const auto again = m.h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{m.run, 2});
  m.h.accept(m.run);
  m.h.advance(60s);
  CHECK(m.h.attempt(m.run).attempt == 2);
}

TEST_CASE("home: the first host back in time keeps its attempt, whoever came up meanwhile") {
  Moved m;
  const auto other = m.come_up("bbbbbbbb-1");
  m.h.advance(1s);
  const auto back = m.come_up("aaaaaaaa-2");
  m.h.leave(other);
  REQUIRE(m.h.pop_hellos().size() == 1);
  model::HeldAttempt held;
  held.key = m.h.attempt(m.run);
  held.state = model::HeldAttempt::State::Running;
  m.h.inventory(back, {held});
  m.h.advance(60s);
  CHECK(m.h.attempt(m.run).attempt == 1);
}

TEST_CASE("home: a new Term that finds only the other host waits for the fence") {
  Moved m;
  Harness next(m.h.recovered(), {}, Epoch{8});
  const auto info = a_worker("w1", 1, "bbbbbbbb-1");
  next.handle(WorkerSeen{info});
  next.listed();
  CHECK(next.pop_hellos().empty());
  next.advance(5299ms);
  CHECK(next.pop_hellos().empty());
  next.advance(500ms);
  CHECK(next.pop_hellos().size() == 1);
}

TEST_CASE("home: a life that tells no home counts as the same one") {
  Harness h;
  const auto w1 = h.join(a_worker("w1", 1, "i1"));
  h.leave(w1);
  const auto again = a_worker("w1", 1, "i2");
  h.handle(WorkerSeen{again});
  CHECK(h.pop_hellos().size() == 1);
}
