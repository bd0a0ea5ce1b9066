#include "common/zk/registration.h"

#include <doctest/doctest.h>

#include "common/zk/paths.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;
using Names = std::vector<std::string>;

namespace {

struct Heard {
  std::vector<Registered> registered;
  Names gone;
};

struct Fixture {
  static SessionOptions options() {
    SessionOptions quick = quick_session();
    quick.client.session_timeout = Millis{50};
    return quick;
  }
  FakeServer server;
  Session session{server.factory(), options()};
  Watched<Heard> heard;
  int lives = 0;
  std::unique_ptr<Registration> registration;

  void begin(const std::string& fixed_name = "") {
    RegistrationCallbacks callbacks;
    callbacks.describe = [this, fixed_name](SessionId) {
      const std::string life = "w1@" + std::to_string(++lives);
      return NodeToRegister{fixed_name.empty() ? life : fixed_name, "data"};
    };
    callbacks.registered = [this](const Registered& registered) {
      heard.change([&](Heard& all) { all.registered.push_back(registered); });
    };
    callbacks.gone = [this](const std::string& why) {
      heard.change([&](Heard& all) { all.gone.push_back(why); });
    };
    registration = std::make_unique<Registration>(session, "/w", callbacks);
    session.start();
  }
  bool registered(std::size_t times) {
    return heard.becomes([&](const Heard& all) { return all.registered.size() == times; });
  }
  Names nodes() const { return server.children("/w"); }
};

}  // namespace

TEST_CASE("registration: creates its node, and again in each session") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  CHECK(f.nodes() == Names{"w1@1"});
  f.server.expire_all();
  REQUIRE(f.registered(2));
  CHECK(f.nodes() == Names{"w1@2"});
  CHECK(f.heard.get().gone.size() == 1);
  CHECK(f.heard.get().registered[0].session != f.heard.get().registered[1].session);
}

TEST_CASE("registration: a node deleted by hand ends that life; the next one registers") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  f.server.delete_by_hand("/w/w1@1");
  REQUIRE(f.registered(2));
  CHECK(f.nodes() == Names{"w1@2"});
  CHECK(f.heard.get().gone.size() == 1);
}

TEST_CASE("registration: lost answers make neither a ghost nor a second life") {
  Fixture f;
  SUBCASE("of the create") { f.server.lose_next(Op::Create, Loss::Answer); }
  SUBCASE("of the create, which never arrived") { f.server.lose_next(Op::Create, Loss::Request); }
  SUBCASE("of the reading back") { f.server.lose_next(Op::Get, Loss::Request); }
  SUBCASE("of the listing") { f.server.lose_next(Op::List, Loss::Request); }
  f.begin();
  REQUIRE(f.registered(1));
  CHECK(f.nodes() == Names{"w1@1"});
  CHECK(f.lives == 1);
}

TEST_CASE("registration: repeats the write of changed data until it succeeds") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  f.server.lose_next(Op::Set, Loss::Request);
  f.registration->set_data("draining");
  const auto client = f.session.client();
  const auto stands = [&] { return client->get("/w/w1@1", Watch::No)->data == "draining"; };
  CHECK(eventually(f.session, stands));
  CHECK(f.lives == 1);
}

TEST_CASE("registration: finds other nodes of its own id") {
  Fixture f;
  EventLog log;
  const auto rival = std::move(*f.server.factory()(ClientOptions{}, log.handler()));
  REQUIRE(ensure_folder(*rival, "/w").has_value());
  REQUIRE(rival->create("/w/w1@rival", "", CreateMode::Ephemeral).has_value());
  REQUIRE(rival->create("/w/w11@other", "", CreateMode::Ephemeral).has_value());
  f.begin();
  REQUIRE(f.registered(1));
  CHECK(f.heard.get().registered[0].others == Names{"w1@rival"});
}

TEST_CASE("registration: waits for a name that another session holds") {
  Fixture f;
  EventLog log;
  const auto other = std::move(*f.server.factory()(ClientOptions{}, log.handler()));
  REQUIRE(ensure_folder(*other, "/w").has_value());
  REQUIRE(other->create("/w/m1", "", CreateMode::Ephemeral).has_value());
  f.begin("m1");
  REQUIRE(f.session.wait_connected(testing::kPatience).has_value());
  settle(f.session);
  CHECK(f.heard.get().registered.empty());
  REQUIRE(other->close());
  REQUIRE(f.registered(1));
}

TEST_CASE("registration: withdrawing removes the node for good") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  f.server.lose_next(Op::Remove, Loss::Answer);
  const auto first = f.registration->withdraw(testing::kPatience);
  if (!first) CHECK(f.registration->withdraw(testing::kPatience).has_value());
  CHECK(f.nodes().empty());
  f.server.expire_all();
  REQUIRE(f.session.wait_connected(testing::kPatience).has_value());
  settle(f.session);
  CHECK(f.nodes().empty());
}

TEST_CASE("registration: nodes that no session owns are not rivals") {
  Fixture f;
  f.server.make_by_hand("/w");
  f.server.make_by_hand("/w/w1@copied");
  f.begin();
  REQUIRE(f.registered(1));
  CHECK(f.heard.get().registered.front().others.empty());
}

TEST_CASE("registration: a copy with exactly its name that no session owns does not keep it out") {
  Fixture f;
  f.server.make_by_hand("/w");
  f.server.make_by_hand("/w/m1", "old");
  f.begin("m1");
  REQUIRE(f.registered(1));
  const auto client = f.session.client();
  CHECK(client->get("/w/m1", Watch::No)->stat.ephemeral_owner == client->session_id());
}

TEST_CASE("registration: after a loss of data it registers in a new session, and creates its folder again") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  f.server.wipe();
  REQUIRE(f.registered(2));
  CHECK(f.nodes() == Names{"w1@2"});
  CHECK(f.heard.get().gone.size() == 1);
}

TEST_CASE("registration: removes an older life of the same session that came back with older data") {
  Fixture f;
  f.begin();
  REQUIRE(f.registered(1));
  f.server.make_copy();
  f.server.delete_by_hand("/w/w1@1");
  REQUIRE(f.registered(2));  // another life in the same session
  f.server.restore_copy();
  REQUIRE(f.registered(3));
  CHECK(eventually(f.session, [&] { return f.nodes() == Names{"w1@3"}; }));
  CHECK(f.heard.get().registered.back().others.empty());
  CHECK(f.heard.get().registered.back().session == f.heard.get().registered.front().session);
}
