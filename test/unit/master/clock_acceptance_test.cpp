#include "master/upkeep/clock_acceptance.h"

#include <doctest/doctest.h>

#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::master;

namespace {

struct HeldCluster {
  zk::FakeServer server;
  zk::EventLog log;
  zk::Paths paths{"c"};
  std::unique_ptr<zk::Client> client = std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  ClockHold hold{Millis{3'600'000}, wall_from_ms(1'700'000'000'000), false, false};

  HeldCluster() {
    REQUIRE(client->create("/rota", "", zk::CreateMode::Persistent));
    REQUIRE(client->create("/rota/c", "", zk::CreateMode::Persistent));
  }
};

}  // namespace

TEST_CASE("clock_acceptance: the operator's word reaches each master that holds, once") {
  HeldCluster c;
  CHECK(accept_clocks(*c.client, c.paths)->empty());
  ClockHoldNote one(c.paths, "m1"), other(c.paths, "m2");
  CHECK_FALSE(one.follow(*c.client, c.hold));
  CHECK_FALSE(one.follow(*c.client, c.hold));
  CHECK_FALSE(other.follow(*c.client, std::nullopt));
  const auto words = accept_clocks(*c.client, c.paths);
  REQUIRE(words);
  REQUIRE(words->size() == 1);
  CHECK(words->front().starts_with("m1: the leader's clock stepped about 3600 s ahead"));
  CHECK(one.follow(*c.client, c.hold));
  CHECK_FALSE(one.follow(*c.client, std::nullopt));
  CHECK(accept_clocks(*c.client, c.paths)->empty());
}

TEST_CASE("clock_acceptance: asked again, it tells only the masters that noticed the step later") {
  HeldCluster c;
  ClockHoldNote one(c.paths, "m1"), other(c.paths, "m2");
  std::set<std::string> told;
  CHECK_FALSE(one.follow(*c.client, c.hold));
  CHECK(accept_clocks(*c.client, c.paths, told)->size() == 1);
  CHECK_FALSE(other.follow(*c.client, c.hold));
  const auto later = accept_clocks(*c.client, c.paths, told);
  REQUIRE(later);
  REQUIRE(later->size() == 1);
  CHECK(later->front().starts_with("m2: "));
  CHECK(accept_clocks(*c.client, c.paths, told)->empty());
  CHECK(one.follow(*c.client, c.hold));
  CHECK(other.follow(*c.client, c.hold));
}

TEST_CASE("clock_acceptance: a word for an earlier hold, or an earlier life, is none for this one") {
  HeldCluster c;
  ClockHoldNote before(c.paths, "m1");
  CHECK_FALSE(before.follow(*c.client, c.hold));
  REQUIRE(accept_clocks(*c.client, c.paths));
  ClockHoldNote note(c.paths, "m1");
  CHECK_FALSE(note.follow(*c.client, c.hold));
  CHECK_FALSE(note.follow(*c.client, c.hold));
  REQUIRE(accept_clocks(*c.client, c.paths));
  c.hold.since += Millis{5000};
  CHECK_FALSE(note.follow(*c.client, c.hold));
  CHECK_FALSE(note.follow(*c.client, c.hold));
}

TEST_CASE("clock_acceptance: a word for a clock that has stepped again meanwhile is none for where it is now") {
  HeldCluster c;
  ClockHoldNote note(c.paths, "m1");
  CHECK_FALSE(note.follow(*c.client, c.hold));
  REQUIRE(accept_clocks(*c.client, c.paths));
  SUBCASE("it stepped on by half an hour") {
    c.hold.by += Millis{1'800'000};
    CHECK_FALSE(note.follow(*c.client, c.hold));
    CHECK_FALSE(note.follow(*c.client, c.hold));
    const auto words = accept_clocks(*c.client, c.paths);
    REQUIRE(words);
    CHECK(words->front().starts_with("m1: the leader's clock stepped about 5400 s ahead"));
    CHECK(note.follow(*c.client, c.hold));
  }
  SUBCASE("it was only slewed") {
    c.hold.by += Millis{900};
    CHECK(note.follow(*c.client, c.hold));
  }
}

TEST_CASE("clock_acceptance: a ZooKeeper that lost its data has accepted nothing") {
  HeldCluster c;
  ClockHoldNote note(c.paths, "m1");
  CHECK_FALSE(note.follow(*c.client, c.hold));
  REQUIRE(c.client->remove("/rota/c/clock_held/m1"));
  CHECK_FALSE(note.follow(*c.client, c.hold));
  CHECK_FALSE(note.follow(*c.client, c.hold));
  CHECK(accept_clocks(*c.client, c.paths)->size() == 1);
}
