#include "common/zk/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;

namespace {

struct Told {
  std::vector<std::string> words;
  std::vector<SessionId> sessions;
};

/// Makes an ephemeral node in each session, and notes what it hears.
class Recorder final : public SessionObserver {
 public:
  Watched<Told> told;
  void session_began(Client& client) override {
    const auto made = client.create("/mine", "", CreateMode::Ephemeral);
    note(made ? "began" : "began without node", client.session_id());
  }
  void session_suspended() override { note("suspended", 0); }
  void session_resumed(Client& client) override { note("resumed", client.session_id()); }
  void session_ended() override { note("ended", 0); }
  bool hears(const std::string& word, std::size_t times = 1) {
    return told.becomes([&](const Told& all) {
      const auto heard = std::count(all.words.begin(), all.words.end(), word);
      return static_cast<std::size_t>(heard) >= times;
    });
  }

 private:
  void note(const std::string& word, SessionId session) {
    told.change([&](Told& all) {
      all.words.push_back(word);
      if (session != 0) all.sessions.push_back(session);
    });
  }
};

}  // namespace

TEST_CASE("session: after each expiry there is a new one, for ever") {
  FakeServer server;
  Session session(server.factory(), quick_session());
  Recorder recorder;
  session.attach(recorder);
  session.start();
  for (std::size_t i = 1; i <= 5; ++i) {
    REQUIRE(recorder.hears("began", i));
    REQUIRE(server.sessions().size() == 1);
    server.expire(server.sessions().front());
    REQUIRE(recorder.hears("ended", i));
  }
  REQUIRE(recorder.hears("began", 6));
  const auto ids = recorder.told.get().sessions;
  CHECK(std::set<SessionId>(ids.begin(), ids.end()).size() == 6);
  session.detach(recorder);
}

TEST_CASE("session: a server that is away at the start is waited for") {
  FakeServer server;
  server.set_reachable(false);
  Session session(server.factory(), quick_session());
  Recorder recorder;
  session.attach(recorder);
  session.start();
  CHECK(session.wait_connected(Millis{5}).error().code == ErrorCode::TimedOut);
  CHECK(session.client() == nullptr);
  server.set_reachable(true);
  CHECK(recorder.hears("began"));
  CHECK(session.wait_connected(testing::kPatience).has_value());
  session.detach(recorder);
}

TEST_CASE("session: a cut connection is told, and the same session resumes") {
  FakeServer server;
  Session session(server.factory(), quick_session());
  Recorder recorder;
  session.attach(recorder);
  session.start();
  REQUIRE(recorder.hears("began"));
  server.set_reachable(false);
  REQUIRE(recorder.hears("suspended"));
  CHECK_FALSE(session.is_connected());
  server.set_reachable(true);
  REQUIRE(recorder.hears("resumed"));
  CHECK(session.is_connected());
  const auto ids = recorder.told.get().sessions;
  CHECK(ids.front() == ids.back());
  session.detach(recorder);
}

TEST_CASE("session: a clean stop takes the ephemeral nodes away and says so") {
  FakeServer server;
  Recorder recorder;
  Session session(server.factory(), quick_session());
  session.attach(recorder);
  session.start();
  REQUIRE(recorder.hears("began"));
  CHECK(server.children("/").size() == 1);
  CHECK(session.stop());
  CHECK(server.children("/").empty());
  CHECK(recorder.hears("ended"));
  CHECK(session.stop());
  session.detach(recorder);
}

TEST_CASE("session: a stop while cut off tells nobody, and the nodes stay") {
  FakeServer server;
  Recorder recorder;
  Session session(server.factory(), quick_session());
  session.attach(recorder);
  session.start();
  REQUIRE(recorder.hears("began"));
  server.set_reachable(false);
  CHECK_FALSE(session.stop());
  CHECK(server.children("/").size() == 1);
  session.detach(recorder);
}

TEST_CASE("session: who attaches late hears of the present session; who detached hears nothing") {
  FakeServer server;
  Session session(server.factory(), quick_session());
  session.start();
  REQUIRE(session.wait_connected(testing::kPatience).has_value());
  Recorder recorder;
  session.attach(recorder);
  REQUIRE(recorder.hears("began"));
  session.detach(recorder);
  server.expire_all();
  REQUIRE(eventually(session, [&] { return server.sessions().size() == 1; }));
  settle(session);
  CHECK(recorder.told.get().words.size() == 1);
}

TEST_CASE("session: what an earlier session's client still says is dropped") {
  FakeServer server;
  std::vector<EventHandler> handlers;  // filled on the session's thread, read after settle
  const ClientFactory noting = [&](const ClientOptions& options, EventHandler handler) {
    handlers.push_back(handler);
    return server.factory()(options, std::move(handler));
  };
  Session session(noting, quick_session());
  Recorder recorder;
  session.attach(recorder);
  session.start();
  REQUIRE(recorder.hears("began", 1));
  server.expire_all();
  REQUIRE(recorder.hears("began", 2));
  settle(session);
  const auto words = recorder.told.get().words;
  for (const auto what : {Event::What::Connected, Event::What::Suspended, Event::What::Expired}) {
    handlers.front()(Event{what, 1, Event::Change::None, {}});
  }
  settle(session);
  CHECK(recorder.told.get().words == words);
  CHECK(session.is_connected());
  session.detach(recorder);
}
