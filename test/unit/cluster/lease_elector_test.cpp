#include "master/cluster/lease_elector.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace rota;
using namespace rota::master::cluster;
using namespace std::chrono_literals;

namespace {

/// One lease at a server with a clock of its own, which loses what a test wants lost.
struct LeaseServer {
  FakeClock clock;
  Millis lease{5000};
  std::string tag, words;
  MonoTime until{};
  bool is_held() const { return !tag.empty() && clock.mono() < until; }
};

enum class LostPart { Nothing, Question, Answer };

struct FakeBoard final : LeaseBoard {
  LeaseServer& server;
  LostPart& lost;
  std::string& last_tag;
  Millis& took;                    ///< each call takes so long
  FakeClock& own;

  FakeBoard(LeaseServer& of, LostPart& loses, std::string& tells, Millis& takes, FakeClock& clock)
      : server(of), lost(loses), last_tag(tells), took(takes), own(clock) {}

  template <typename Value>
  Result<Value> answer(Value value) {
    own.advance(took);
    if (lost == LostPart::Nothing) return value;
    return fail(ErrorCode::UnknownOutcome, "no answer");
  }
  Result<LeaseSight> hold(const std::string& tag, const std::string& words) override {
    last_tag = tag;
    if (lost != LostPart::Question && (!server.is_held() || server.tag == tag)) {
      server.tag = tag;
      server.words = words;
      server.until = server.clock.mono() + server.lease;
    }
    return answer(LeaseSight{server.is_held() && server.tag == tag, server.is_held() ? server.words : ""});
  }
  Result<LeaseSight> look() override { return answer(LeaseSight{false, server.is_held() ? server.words : ""}); }
  Result<void> release(const std::string& tag) override {
    if (lost != LostPart::Question && server.tag == tag) server.tag.clear();
    own.advance(took);
    return lost == LostPart::Nothing ? Result<void>() : fail(ErrorCode::UnknownOutcome, "no answer");
  }
};

struct LeaseContender final : ElectorObserver {
  FakeClock clock;
  LostPart loss = LostPart::Nothing;
  std::string tag;
  Millis took{0};
  int times_elected = 0, times_lost = 0;
  std::string why;
  LeaseElector elector;

  LeaseContender(LeaseServer& server, const std::string& id)
      : elector(std::make_unique<FakeBoard>(server, loss, tag, took, clock), id, LeaseTimes{5s, 500ms}, *this, clock) {
    elector.campaign();
  }
  void elected() override { ++times_elected; }
  void lost(std::string_view reason) override {
    ++times_lost;
    why = reason;
  }
};

bool is_behind(const LeaseContender& one, const std::string& other) {
  const Candidacy candidacy = one.elector.candidacy();
  return candidacy.stands && candidacy.predecessor == other && candidacy.trouble.empty();
}

struct LeaseWorld {
  LeaseServer server;
  LeaseContender one{server, "m1"}, two{server, "m2"};

  void pass(Millis time) {
    server.clock.advance(time);
    one.clock.advance(time);
    two.clock.advance(time);
  }
  void steps() {
    one.elector.step();
    two.elector.step();
  }
  int firsts() const { return int{one.elector.is_first()} + int{two.elector.is_first()}; }
};

}  // namespace

TEST_CASE("lease elector: the first candidate is elected, and stays so while it renews") {
  LeaseWorld world;
  for (int i = 0; i < 40; ++i) {
    world.steps();
    world.pass(500ms);
  }
  CHECK(world.one.elector.is_first());
  CHECK(world.one.times_elected == 1);
  CHECK(world.one.times_lost == 0);
  CHECK(world.two.times_elected == 0);
  CHECK(is_behind(world.two, "m1"));
}

TEST_CASE("lease elector: one that resigns frees the lease at once, and gives the others their turn") {
  LeaseWorld world;
  world.steps();
  world.one.elector.resign();
  world.one.elector.step();
  CHECK(world.one.times_lost == 1);
  CHECK_FALSE(world.one.elector.is_first());
  world.one.elector.campaign();
  world.one.elector.step();  // at once: it would win again
  CHECK_FALSE(world.one.elector.is_first());
  world.two.elector.step();
  CHECK(world.two.elector.is_first());
  world.pass(1s);
  world.one.elector.step();
  CHECK(world.one.elector.candidacy().predecessor == "m2");
}

TEST_CASE("lease elector: one that resigns and campaigns again between two steps has resigned") {
  LeaseWorld world;
  world.steps();
  world.one.elector.resign();
  world.one.elector.campaign();
  world.steps();
  CHECK(world.one.times_lost == 1);
  CHECK(world.two.elector.is_first());
}

TEST_CASE("lease elector: alone, one that resigned is elected again after its pause") {
  LeaseWorld world;
  world.one.elector.step();
  world.one.elector.resign();
  world.one.elector.step();
  world.one.elector.campaign();
  world.pass(1s);
  world.one.elector.step();
  CHECK(world.one.times_elected == 2);
}

TEST_CASE("lease elector: cut off, the holder stops being first before another can be") {
  LeaseWorld world;
  world.steps();
  world.one.loss = LostPart::Question;
  bool was_told = false;
  for (int i = 0; i < 120 && !world.two.elector.is_first(); ++i) {
    world.pass(50ms);
    world.steps();
    CHECK(world.firsts() <= 1);
    if (world.one.times_lost == 1) was_told = true;
  }
  CHECK(world.two.elector.is_first());
  CHECK(was_told);
  CHECK(world.one.elector.candidacy().trouble == "no answer");
  world.one.loss = LostPart::Nothing;
  world.one.elector.step();
  CHECK(is_behind(world.one, "m2"));
  CHECK(world.firsts() == 1);
}

TEST_CASE("lease elector: a holder whose thread stood still does not call itself first meanwhile") {
  LeaseWorld world;
  world.steps();
  world.pass(6s);
  CHECK_FALSE(world.one.elector.is_first());
  world.two.elector.step();
  CHECK(world.two.elector.is_first());
  world.one.elector.step();
  CHECK(world.one.times_lost == 1);
  CHECK(world.one.times_elected == 1);
  CHECK(world.firsts() == 1);
}

TEST_CASE("lease elector: the lease counts from when the renewal was sent, not from its answer") {
  LeaseWorld world;
  world.one.took = Millis{3000};
  world.one.elector.step();
  REQUIRE(world.one.times_elected == 1);
  world.one.clock.advance(1499ms);
  CHECK(world.one.elector.is_first());
  world.one.clock.advance(1ms);
  CHECK_FALSE(world.one.elector.is_first());
}

TEST_CASE("lease elector: an answer that took as long as a lease elects nobody") {
  LeaseWorld world;
  world.one.took = Millis{4600};
  world.one.elector.step();
  CHECK(world.one.times_elected == 0);
}

TEST_CASE("lease elector: a lost answer is asked again with the same tag, so that no ghost holds the lease") {
  LeaseWorld world;
  world.one.loss = LostPart::Answer;
  world.one.elector.step();
  CHECK(world.one.times_elected == 0);
  const std::string tag = world.one.tag;
  CHECK(world.server.tag == tag);
  world.one.loss = LostPart::Nothing;
  world.one.elector.step();
  CHECK(world.one.tag == tag);
  CHECK(world.one.elector.is_first());
}

TEST_CASE("lease elector: a release without an answer is repeated") {
  LeaseWorld world;
  world.one.elector.step();
  world.one.elector.resign();
  world.one.loss = LostPart::Question;
  world.one.elector.step();
  CHECK(world.server.is_held());
  CHECK_FALSE(world.one.elector.is_first());
  world.one.loss = LostPart::Nothing;
  world.one.elector.step();
  CHECK_FALSE(world.server.is_held());
}

TEST_CASE("lease elector: stopped, it frees the lease, and each candidacy has a tag of its own") {
  LeaseWorld world;
  world.one.elector.step();
  const std::string tag = world.one.tag;
  world.one.elector.resign();
  world.one.elector.step();
  world.one.elector.campaign();
  world.pass(1s);
  world.one.elector.step();
  CHECK(world.one.tag != tag);
  world.one.elector.stop();
  CHECK_FALSE(world.server.is_held());
  CHECK_FALSE(world.one.elector.is_first());
}

TEST_CASE("lease elector: a restarted process frees at once what its dead predecessor held") {
  LeaseWorld world;
  std::string kept;
  const auto keeps = [&kept](const std::string& tag) { kept = tag; };
  LostPart cut = LostPart::Nothing;
  {
    LeaseElector dead(std::make_unique<FakeBoard>(world.server, cut, world.one.tag, world.one.took,
                                                  world.one.clock),
                      "m3", LeaseTimes{5s, 500ms}, world.one, world.one.clock, {"", keeps});
    dead.campaign();
    dead.step();
    cut = LostPart::Question;  // killed: nothing more is heard of it
  }
  REQUIRE(world.server.is_held());
  REQUIRE(kept == world.server.tag);
  cut = LostPart::Nothing;
  LeaseElector next(std::make_unique<FakeBoard>(world.server, cut, world.one.tag, world.one.took,
                                                world.one.clock),
                    "m3", LeaseTimes{5s, 500ms}, world.one, world.one.clock, {kept, keeps});
  SUBCASE("before it stands") {
    next.step();
    CHECK_FALSE(world.server.is_held());
    world.two.elector.step();
    CHECK(world.two.elector.is_first());
  }
  SUBCASE("or goes on with it, when it stands at once") {
    next.campaign();
    next.step();
    CHECK(next.is_first());
  }
}

TEST_CASE("lease elector: everybody learns who leads with the next look, and forgets it without answers") {
  LeaseWorld world;
  const LeaderHint hint{Epoch{7}, "host", 4242};
  world.steps();
  CHECK(world.two.elector.leader().error().code == ErrorCode::NotFound);
  world.one.elector.publish(hint);
  world.steps();
  CHECK(*world.two.elector.leader() == hint);
  CHECK(*world.one.elector.leader() == hint);
  SUBCASE("its Term ends") {
    world.one.elector.withdraw_hint();
    world.steps();
    CHECK(world.two.elector.leader().error().code == ErrorCode::NotFound);
  }
  SUBCASE("the servers do not answer any more") {
    world.two.loss = LostPart::Question;
    world.pass(2s);
    world.two.elector.step();
    CHECK(world.two.elector.leader().error().code == ErrorCode::Unavailable);
  }
  SUBCASE("one that does not stand knows it too") {
    world.two.elector.resign();
    world.two.elector.step();
    world.two.elector.step();
    CHECK(*world.two.elector.leader() == hint);
  }
}
