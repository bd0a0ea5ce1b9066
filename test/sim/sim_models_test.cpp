// Behaviour that needs several servers of the simulated ZooKeeper, and database answers without a COMMIT.
#include <doctest/doctest.h>

#include "sim_office.h"
#include "sim_zk_client.h"

namespace rota::sim {
namespace {

struct ThreeServers {
  ThreeServers() {
    zookeeper.set_up(3);
    session = zookeeper.begin_session(1, Millis{4000}, now, [this](const zk::Event& event) { heard.push_back(event); });
    other = zookeeper.begin_session(0, Millis{9000}, now, {});
  }
  SimZkClient client(zk::SessionId id, std::size_t server) { return {zookeeper, id, server, dice, marks}; }
  void write(const std::string& path) { (void)zookeeper.create(other, path, "", zk::CreateMode::Persistent); }

  const MonoTime now{std::chrono::seconds{1000}};
  Random dice{1};
  Marks marks;
  SimZookeeper zookeeper;
  std::vector<zk::Event> heard;
  zk::SessionId session = 0;
  zk::SessionId other = 0;
};

/// A database without faults, and a way into office.
struct Database {
  Random dice{1};
  Marks marks;
  Clockwork clockwork;
  SimStore store{dice, marks, clockwork};
  SimOffice office{store, dice, marks, clockwork};
};

}  // namespace

TEST_CASE("sim zookeeper: a session at a lagging server gets a change when that server shows it") {
  ThreeServers world;
  auto client = world.client(world.session, 1);
  world.zookeeper.lag(1);
  REQUIRE_FALSE(client.exists("/a", zk::Watch::Yes)->has_value());
  world.write("/a");
  CHECK_FALSE(client.exists("/a", zk::Watch::No)->has_value());
  CHECK(world.heard.empty());
  world.zookeeper.catch_up(1);
  REQUIRE(world.heard.size() == 1);
  CHECK(world.heard[0].change == zk::Event::Change::Created);
  CHECK(client.exists("/a", zk::Watch::No)->has_value());
}

TEST_CASE("sim zookeeper: a server that is cut off while it lags shows nothing newer after the lag") {
  ThreeServers world;
  world.zookeeper.lag(1);
  world.write("/a");
  world.zookeeper.cut(1, world.now);
  world.zookeeper.catch_up(1);
  CHECK(world.zookeeper.view(1).find("/a") == nullptr);
  world.zookeeper.mend(1);
  CHECK(world.zookeeper.view(1).find("/a") != nullptr);
}

TEST_CASE("sim zookeeper: the nodes of an expired session vanish, and its holder learns it by its next call") {
  ThreeServers world;
  auto client = world.client(world.session, 1);
  REQUIRE(client.create("/e", "", zk::CreateMode::Ephemeral));
  CHECK(client.get("/e", zk::Watch::No)->stat.ephemeral_owner == world.session);
  world.zookeeper.cut(1, world.now);
  world.zookeeper.expire(world.now + Millis{4000});
  CHECK(world.zookeeper.tree().find("/e") == nullptr);
  CHECK(world.heard.empty());
  CHECK(client.get("/e", zk::Watch::No).has_value());  // its server does not know yet
  CHECK(client.set("/e", "x", zk::kAnyVersion).error().code == ErrorCode::UnknownOutcome);
  world.zookeeper.mend(1);
  CHECK(client.get("/e", zk::Watch::No).error().code == ErrorCode::Unavailable);
  CHECK(world.zookeeper.is_alive(world.other));
}

TEST_CASE("sim zookeeper: servers that lost data refuse a handle that has seen more than they know") {
  ThreeServers world;
  world.write("/a");
  world.zookeeper.make_copy();
  auto client = world.client(world.session, 1);
  REQUIRE(client.create("/e", "", zk::CreateMode::Ephemeral));
  const std::int64_t seen = world.zookeeper.tree().zxid();
  SUBCASE("an older copy: sessions of its time go on by a new handle, and what came after it is gone") {
    world.zookeeper.put_copy_back(wall_from_ms(5000));
    CHECK_FALSE(world.zookeeper.admits(seen));
    CHECK(world.zookeeper.admits(0));
    CHECK(world.zookeeper.tree().find("/a") != nullptr);
    CHECK(world.zookeeper.tree().find("/e") == nullptr);
    REQUIRE(world.zookeeper.attach(world.session, 1, [&](const zk::Event& event) { world.heard.push_back(event); }));
    REQUIRE(client.create("/e", "", zk::CreateMode::Ephemeral));
    REQUIRE_FALSE(client.exists("/b", zk::Watch::Yes)->has_value());
    world.write("/b");
    CHECK(world.heard.size() == 1);
  }
  SUBCASE("nothing: no session is known, and a folder that is made again was made at another time") {
    world.zookeeper.lose_data(wall_from_ms(5000));
    CHECK_FALSE(world.zookeeper.admits(seen));
    CHECK_FALSE(world.zookeeper.attach(world.session, 1, {}));
    CHECK(client.create("/e", "", zk::CreateMode::Ephemeral).error().code == ErrorCode::Unavailable);
    (void)world.zookeeper.create(0, "/a", "", zk::CreateMode::Persistent);
    CHECK(world.zookeeper.tree().find("/a")->stat.created_ms == 5000);
  }
}

TEST_CASE("sim database: a bare check with a lost answer is Failed, and an office that is taken is a Conflict") {
  Database database;
  auto& [dice, marks, clockwork, store, office] = database;
  REQUIRE(office.enter_office(Epoch{2}, "a"));
  store.faults.unknown_per_mille = 1000;
  for (int i = 0; i < 10; ++i) {
    CHECK(store.apply(Epoch{2}, {}).outcome == master::store::ApplyOutcome::Failed);
    CHECK(office.enter_office(Epoch{2}, "b").error().code == ErrorCode::Conflict);
  }
}

TEST_CASE("sim database: where a node lags, only a certified fence refuses a deposed leader, only a read that waits sees all") {
  Database database;
  auto& [dice, marks, clockwork, store, office] = database;
  REQUIRE(office.enter_office(Epoch{1}, "a"));
  store.lag_nodes(Millis{1000});
  REQUIRE(store.apply(Epoch{1}, {}).outcome == master::store::ApplyOutcome::Applied);
  REQUIRE(office.enter_office(Epoch{2}, "b"));
  SUBCASE("refused, and all is seen") {
    CHECK(store.apply(Epoch{1}, {}).outcome == master::store::ApplyOutcome::Failed);
    CHECK(office.recover());
    CHECK(store.violation.empty());
  }
  SUBCASE("a lock of one node") {
    store.nodes.fence_is_certified = false;
    (void)store.apply(Epoch{1}, {});
    CHECK(store.violation.starts_with("P4"));
  }
  SUBCASE("a read that does not wait") {
    store.nodes.reads_wait = false;
    (void)office.recover();
    CHECK(store.violation.starts_with("P9"));
  }
}

/// Led by epochs 1 and 2; the second knows that rows are lost. Then a copy from the time of the first is back.
TEST_CASE("sim database: a leader from before a loss may not know it; every leader that knows holds ticks") {
  Database database;
  auto& [dice, marks, clockwork, store, office] = database;
  REQUIRE(office.enter_office(Epoch{1}, "a"));
  store.note_takeover(Epoch{1}, false);
  store.back_up();
  REQUIRE(office.enter_office(Epoch{2}, "b"));
  store.note_takeover(Epoch{2}, true);
  master::core::Changes late;
  late.gaps = {{JobId{1}, 1, wall_from_ms(1), wall_from_ms(1), 1, model::Reason::LateSkipped, 0, Epoch{1}}};
  SUBCASE("the old one goes on in its epoch") {
    REQUIRE(store.go_back({Epoch{2}, {}}));
    (void)store.apply(Epoch{1}, late);
    CHECK_FALSE(store.violation.starts_with("P9"));
  }
  SUBCASE("the one that noticed it records nothing") {
    (void)store.apply(Epoch{2}, late);
    CHECK(store.violation.starts_with("P9"));
  }
  SUBCASE("nor does its successor, until somebody has accepted it") {
    REQUIRE(office.enter_office(Epoch{3}, "c"));
    store.note_takeover(Epoch{3}, true);
    (void)store.apply(Epoch{3}, late);
    CHECK(store.violation.starts_with("P9"));
  }
  SUBCASE("an accepted one is led as ever") {
    store.accept_restore();
    (void)store.apply(Epoch{2}, late);
    CHECK_FALSE(store.violation.starts_with("P9"));
  }
}

}  // namespace rota::sim
