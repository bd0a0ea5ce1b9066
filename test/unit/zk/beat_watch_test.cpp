#include "common/zk/beat_watch.h"

#include <doctest/doctest.h>

#include "common/zk/paths.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;

namespace {

struct Ends {
  std::vector<std::string> names;
  MonoTime last_before{};
};

/// A leader's session that looks at beats, and a worker's that writes them.
struct Fixture {
  FakeServer server;
  Session session{server.factory(), quick_session()};
  EventLog log;
  std::unique_ptr<Client> worker = std::move(*server.factory()(ClientOptions{}, log.handler()));
  Watched<Ends> ends;
  std::unique_ptr<BeatWatch> beats;

  Fixture() {
    REQUIRE(ensure_folder(*worker, "/b").has_value());
    beat_first("w1@1");
    beats = std::make_unique<BeatWatch>(session, "/b", [this](const std::string& name, MonoTime last) {
      ends.change([&](Ends& all) {
        all.names.push_back(name);
        all.last_before = last;
      });
    });
    session.start();
    REQUIRE(session.wait_connected(testing::kPatience).has_value());
    settle(session);
  }
  void beat_first(const std::string& name) {
    REQUIRE(worker->create("/b/" + name, "", CreateMode::Ephemeral).has_value());
  }
  void look() {
    beats->watch("w1@1");
    settle(session);
  }
  void beat() {
    REQUIRE(worker->set("/b/w1@1", "again").has_value());
    settle(session);
  }
  void end_session() {
    server.expire(worker->session_id());
    settle(session);
  }
  std::size_t told() const { return ends.get().names.size(); }
};

}  // namespace

TEST_CASE("beat watch: at the session's end it reports that beats have stopped, and since when") {
  Fixture f;
  f.look();
  const MonoTime looked = BootClock::now();
  f.look();  // looked at still, from the first time on
  f.end_session();
  REQUIRE(f.ends.becomes([](const Ends& all) { return all.names == std::vector<std::string>{"w1@1"}; }));
  CHECK(f.ends.get().last_before <= looked);
}

TEST_CASE("beat watch: reports nothing when a beat came meanwhile") {
  Fixture f;
  f.look();
  f.beat();
  f.end_session();
  CHECK(f.told() == 0);
}

TEST_CASE("beat watch: a new call after a beat watches from then on") {
  Fixture f;
  f.look();
  f.beat();
  const MonoTime beaten = BootClock::now();
  f.look();
  f.end_session();
  REQUIRE(f.ends.becomes([](const Ends& all) { return all.names.size() == 1; }));
  CHECK(f.ends.get().last_before >= beaten);
}

TEST_CASE("beat watch: reports nothing about a node that was not watched all the time") {
  Fixture f;
  f.look();
  SUBCASE("the connection was lost meanwhile") {
    f.server.set_reachable(false);
    f.server.set_reachable(true);
    settle(f.session);
  }
  SUBCASE("its own session ended meanwhile") {
    const SessionId own = f.session.client()->session_id();
    f.server.expire(own);
    REQUIRE(eventually(f.session, [&] {
      const auto client = f.session.client();
      return client && client->session_id() != own;
    }));
  }
  f.end_session();
  CHECK(f.told() == 0);
}

TEST_CASE("beat watch: does not watch a missing node") {
  Fixture f;
  f.beats->watch("w2@1");
  settle(f.session);
  f.beat_first("w2@1");
  f.end_session();
  CHECK(f.told() == 0);
}
