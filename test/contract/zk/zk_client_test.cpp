// One suite for every implementation of zk::Client: the in-process fake and a real server.
#include <doctest/doctest.h>

#include "common/base/random.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"
#include "common/zk/session_file.h"
#include "test/support/patience.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"
#include "test/support/zookeeper_server.h"

using namespace rota;
using namespace rota::zk;

namespace {

struct FakeWorld {
  FakeServer server;
  ClientFactory factory() { return server.factory(); }
  std::string address() { return "fake"; }
};

/// A separate server whose data a test may lose; a server of the fake world always is separate.
struct LosingFake : FakeWorld {
  void stop() { server.set_reachable(false); }
  void start() { server.set_reachable(true); }
  void make_copy() { server.make_copy(); }
  void restore_copy() { server.restore_copy(); }
  void wipe() { server.wipe(); }
};

struct LosingReal {
  testing::ZookeeperServer server;
  LosingReal() { REQUIRE(server.start().has_value()); }
  ClientFactory factory() { return make_real_client; }
  std::string address() { return server.address(); }
  void stop() { server.kill(); }
  void start() { REQUIRE(server.start().has_value()); }
  void make_copy() {
    stop();
    REQUIRE(server.keep_data("copy"));
    start();
  }
  void restore_copy() {
    stop();
    REQUIRE(server.put_data_back("copy"));
    start();
  }
  void wipe() {
    stop();
    REQUIRE(server.lose_data());
    start();
  }
};

struct RealWorld {
  static testing::ZookeeperServer& server() {
    static testing::ZookeeperServer one;
    static const bool started = one.start().has_value();
    REQUIRE(started);
    return one;
  }
  ClientFactory factory() { return make_real_client; }
  std::string address() { return server().address(); }
};

/// A connected client with its log of events.
struct Peer {
  EventLog log;
  std::unique_ptr<Client> client;

  template <typename World>
  explicit Peer(World& world, std::optional<Credentials> attach = {}) {
    ClientOptions options;
    options.addresses = world.address();
    options.attach = attach;
    options.session_timeout = options.operation_deadline = Millis{20'000};
    auto made = world.factory()(options, log.handler());
    REQUIRE(made.has_value());
    client = std::move(*made);
    REQUIRE(log.hears(Event::What::Connected));
  }
  Client* operator->() { return client.get(); }
};

/// Ends a session on behalf of its holder.
template <typename World>
bool end(World& world, const Client& victim) {
  SessionRecord record;
  record.addresses = world.address();
  record.credentials = victim.credentials();
  return end_session(record, world.factory(), testing::kPatience).has_value();
}

/// A separate folder for each test, because the real server is shared.
std::string fresh_folder(Client& client) {
  const std::string folder = "/test/" + random_hex(6);
  REQUIRE(ensure_folder(client, folder).has_value());
  return folder;
}

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

}  // namespace

TEST_CASE_TEMPLATE("zk client: makes, reads, changes and removes a node", World, FakeWorld,
                   RealWorld) {
  World world;
  Peer peer(world);
  const std::string path = fresh_folder(*peer.client) + "/a";
  CHECK(*peer->create(path, "one", CreateMode::Persistent) == path);
  CHECK(peer->get(path, Watch::No)->data == "one");
  CHECK(peer->get(path, Watch::No)->stat.ephemeral_owner == 0);
  CHECK(peer->set(path, std::string("t\0o", 3)).has_value());
  CHECK(peer->get(path, Watch::No)->data == std::string("t\0o", 3));
  CHECK(peer->exists(path, Watch::No)->has_value());
  CHECK(peer->remove(path).has_value());
  CHECK_FALSE(peer->exists(path, Watch::No)->has_value());
  CHECK(peer->sync("/").has_value());
}

TEST_CASE_TEMPLATE("zk client: names each refusal", World, FakeWorld, RealWorld) {
  World world;
  Peer peer(world);
  const std::string folder = fresh_folder(*peer.client);
  CHECK(code_of(peer->get(folder + "/no", Watch::No)) == ErrorCode::NotFound);
  CHECK(code_of(peer->remove(folder + "/no")) == ErrorCode::NotFound);
  CHECK(code_of(peer->list(folder + "/no", Watch::No)) == ErrorCode::NotFound);
  CHECK(code_of(peer->set(folder + "/no", "x")) == ErrorCode::NotFound);
  CHECK(code_of(peer->create(folder + "/no/x", "", CreateMode::Persistent)) == ErrorCode::NotFound);
  CHECK(code_of(peer->create(folder, "", CreateMode::Persistent)) == ErrorCode::AlreadyExists);
  REQUIRE(peer->create(folder + "/a", "", CreateMode::Persistent).has_value());
  CHECK(code_of(peer->remove(folder)) == ErrorCode::Conflict);
  REQUIRE(peer->set(folder + "/a", "1", 0).has_value());
  CHECK(code_of(peer->set(folder + "/a", "2", 0)) == ErrorCode::Conflict);
  CHECK(code_of(peer->remove(folder + "/a", 0)) == ErrorCode::Conflict);
  CHECK(peer->set(folder + "/a", "2", 1)->version == 2);
}

TEST_CASE_TEMPLATE("zk client: ephemeral nodes name their session and vanish with it", World, FakeWorld,
                   RealWorld) {
  World world;
  Peer one(world);
  Peer two(world);
  const std::string path = fresh_folder(*one.client) + "/e";
  REQUIRE(one->create(path, "", CreateMode::Ephemeral).has_value());
  two->sync("/").has_value();
  const auto stat = two->exists(path, Watch::Yes);
  REQUIRE(stat->has_value());
  CHECK((*stat)->ephemeral_owner == one->session_id());
  CHECK(one->session_id() != two->session_id());
  CHECK(one->close());
  CHECK_FALSE(one->close());
  CHECK(two.log.hears_watch(path, Event::Change::Deleted));
  CHECK_FALSE(two->exists(path, Watch::No)->has_value());
  CHECK(code_of(one->get(path, Watch::No)) == ErrorCode::Unavailable);
}

TEST_CASE_TEMPLATE("zk client: sequences grow", World, FakeWorld, RealWorld) {
  World world;
  Peer peer(world);
  const std::string folder = fresh_folder(*peer.client);
  CHECK(*peer->create(folder + "/n_", "", CreateMode::EphemeralSequential) ==
        folder + "/n_0000000000");
  CHECK(*peer->create(folder + "/n_", "", CreateMode::EphemeralSequential) ==
        folder + "/n_0000000001");
  REQUIRE(peer->remove(folder + "/n_0000000001").has_value());
  CHECK(*peer->create(folder + "/n_", "", CreateMode::EphemeralSequential) ==
        folder + "/n_0000000002");
  CHECK(*peer->list(folder, Watch::No) ==
        std::vector<std::string>{"n_0000000000", "n_0000000002"});
}

TEST_CASE_TEMPLATE("zk client: a watch fires once, and says what to read again", World, FakeWorld,
                   RealWorld) {
  World world;
  Peer watcher(world);
  Peer actor(world);
  const std::string folder = fresh_folder(*watcher.client);
  actor->sync("/").has_value();

  REQUIRE(watcher->exists(folder + "/a", Watch::Yes).has_value());
  REQUIRE(watcher->list(folder, Watch::Yes).has_value());
  REQUIRE(actor->create(folder + "/a", "", CreateMode::Persistent).has_value());
  CHECK(watcher.log.hears_watch(folder + "/a", Event::Change::Created));
  CHECK(watcher.log.hears_watch(folder, Event::Change::Children));

  REQUIRE(watcher->get(folder + "/a", Watch::Yes).has_value());
  REQUIRE(actor->set(folder + "/a", "1").has_value());
  REQUIRE(actor->set(folder + "/a", "2").has_value());
  CHECK(watcher.log.hears_watch(folder + "/a", Event::Change::Data));
  REQUIRE(actor->create(folder + "/b", "", CreateMode::Persistent).has_value());
  REQUIRE(watcher->sync("/").has_value());
  CHECK(watcher.log.waiting() == 0);
}

TEST_CASE_TEMPLATE("zk client: many reads at once answer in order", World, FakeWorld, RealWorld) {
  World world;
  Peer peer(world);
  const std::string folder = fresh_folder(*peer.client);
  std::vector<std::string> paths;
  for (int i = 0; i < 50; ++i) {
    paths.push_back(folder + "/" + std::to_string(i));
    if (i == 7) continue;
    REQUIRE(peer->create(paths.back(), std::to_string(i), CreateMode::Persistent).has_value());
  }
  const auto nodes = peer->get_many(paths, Watch::Yes);
  REQUIRE(nodes.size() == 50);
  CHECK(code_of(nodes[7]) == ErrorCode::NotFound);
  CHECK(nodes[49]->data == "49");
  REQUIRE(peer->set(paths[30], "new").has_value());
  CHECK(peer.log.hears_watch(paths[30], Event::Change::Data));
}

TEST_CASE_TEMPLATE("zk client: a process with id and password can end a session", World, FakeWorld,
                   RealWorld) {
  World world;
  Peer victim(world);
  Peer watcher(world);
  const std::string path = fresh_folder(*victim.client) + "/e";
  REQUIRE(victim->create(path, "", CreateMode::Ephemeral).has_value());
  watcher->sync("/").has_value();
  REQUIRE(watcher->exists(path, Watch::Yes)->has_value());
  CHECK(end(world, *victim.client));
  CHECK(watcher.log.hears_watch(path, Event::Change::Deleted));
}

TEST_CASE_TEMPLATE("zk client: an expired session says so, and does nothing more", World, FakeWorld,
                   RealWorld) {
  World world;
  Peer victim(world);
  const std::string folder = fresh_folder(*victim.client);
  REQUIRE(end(world, *victim.client));
  CHECK(victim.log.hears(Event::What::Expired));
  CHECK(victim->state() == SessionState::Expired);
  CHECK(code_of(victim->create(folder + "/x", "", CreateMode::Ephemeral)) ==
        ErrorCode::Unavailable);
  CHECK_FALSE(victim->close());
}

TEST_CASE_TEMPLATE("zk client: attaching to a session that is over is told as expired", World,
                   FakeWorld, RealWorld) {
  World world;
  Credentials gone;
  {
    Peer peer(world);
    gone = peer->credentials();
    REQUIRE(peer->close());
  }
  EventLog log;
  ClientOptions options;
  options.addresses = world.address();
  options.attach = gone;
  const auto client = world.factory()(options, log.handler());
  REQUIRE(client.has_value());
  CHECK(log.hears(Event::What::Expired));
}

// --- handles that cannot come back --------------------------------------------------------------

TEST_CASE_TEMPLATE("zk client: a connected handle cannot be abandoned", World, FakeWorld, RealWorld) {
  World world;
  Peer peer(world);
  CHECK_FALSE(peer->abandon());
  CHECK(peer->sync("/").has_value());
}

TEST_CASE_TEMPLATE("zk client: a cut-off handle is abandoned, and another one gets its session", World,
                   LosingFake, LosingReal) {
  World world;
  Peer first(world);
  REQUIRE(first->create("/e", "", CreateMode::Ephemeral).has_value());
  const Credentials credentials = first->credentials();
  world.stop();
  REQUIRE(first.log.hears(Event::What::Suspended));
  // The library reports that the connection is gone a moment before it counts as gone.
  REQUIRE(testing::eventually([&] { return first->abandon(); }));
  CHECK(first->state() == SessionState::Closed);
  CHECK(code_of(first->get("/e", Watch::No)) == ErrorCode::Unavailable);
  world.start();
  Peer second(world, credentials);
  CHECK(second->session_id() == credentials.id);
  REQUIRE(second->sync("/").has_value());
  CHECK(second->get("/e", Watch::Yes)->stat.ephemeral_owner == credentials.id);
  REQUIRE(second->set("/e", "x").has_value());
  CHECK(second.log.hears_watch("/e", Event::Change::Data));
  CHECK(second->close());
}

TEST_CASE_TEMPLATE("zk client: where all data are lost, the old handle is refused and a new one told that it expired",
                   World, LosingFake, LosingReal) {
  World world;
  Peer old(world);
  REQUIRE(old->create("/e", "", CreateMode::Ephemeral).has_value());
  REQUIRE(old->set("/e", "x").has_value());
  world.wipe();
  REQUIRE(old.log.hears(Event::What::Suspended));
  Peer fresh(world);
  CHECK_FALSE(fresh->exists("/e", Watch::No)->has_value());
  EventLog log;
  ClientOptions options;
  options.addresses = world.address();
  options.attach = old->credentials();
  const auto same = world.factory()(options, log.handler());
  REQUIRE(same.has_value());
  CHECK(log.hears(Event::What::Expired));
  CHECK(old->state() == SessionState::Connecting);
  CHECK(old->abandon());
}

TEST_CASE_TEMPLATE("zk client: an older copy that has the session goes on with it, as of then", World, LosingFake,
                   LosingReal) {
  World world;
  std::optional<Credentials> credentials;
  {
    Peer old(world);
    credentials = old->credentials();
    REQUIRE(old->create("/before", "", CreateMode::Ephemeral).has_value());
    world.make_copy();
    REQUIRE(testing::eventually([&] { return old->create("/after", "", CreateMode::Ephemeral).has_value(); }));
    world.restore_copy();
    REQUIRE(old.log.hears(Event::What::Suspended));
    REQUIRE(testing::eventually([&] { return old->abandon(); }));
  }
  Peer again(world, credentials);
  CHECK(again->session_id() == credentials->id);
  REQUIRE(again->sync("/").has_value());
  CHECK(again->exists("/before", Watch::No)->has_value());
  CHECK_FALSE(again->exists("/after", Watch::No)->has_value());
}
