#include "common/zk/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
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
  void session_reattached(Client& client) override {
    const auto node = client.get("/mine", Watch::No);
    note(node ? "reattached" : "reattached without node", client.session_id());
  }
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

/// A session whose servers grant it so little that a test need not wait long for its end.
SessionOptions short_session(Millis timeout = Millis{30}) {
  SessionOptions options = quick_session();
  options.client.session_timeout = timeout;
  return options;
}

/// A session with one observer, and a count of the handles made for it.
struct Attended {
  FakeServer server;
  std::atomic<int> handles = 0;
  Session session;
  Recorder recorder;

  explicit Attended(SessionOptions options)
      : session(
            [this](const ClientOptions& wanted, EventHandler handler) {
              ++handles;
              return server.factory()(wanted, std::move(handler));
            },
            std::move(options)) {
    session.attach(recorder);
    session.start();
    REQUIRE(recorder.hears("began"));
  }
  ~Attended() { session.detach(recorder); }
  SessionId id() const { return recorder.told.get().sessions.front(); }
};

}  // namespace

TEST_CASE("session: after servers lost their data, a new handle asks them, and a new session follows") {
  Attended a(short_session());
  a.server.wipe();
  REQUIRE(a.recorder.hears("suspended"));
  REQUIRE(a.recorder.hears("began", 2));
  CHECK(a.session.is_connected());
  CHECK(a.recorder.told.get().sessions.back() != a.id());
  CHECK(a.server.children("/") == std::vector<std::string>{"mine"});
  CHECK(a.recorder.told.get().words ==
        std::vector<std::string>{"began", "suspended", "ended", "began"});
}

TEST_CASE("session: continues after an outage longer than its timeout, with its nodes") {
  Attended a(short_session());
  a.server.set_reachable(false);
  REQUIRE(a.recorder.hears("suspended"));
  REQUIRE(eventually(a.session, [&] { return a.handles.load() >= 3; }));  // there were tries in vain
  a.server.set_reachable(true);
  REQUIRE(a.recorder.hears("reattached"));
  CHECK(a.session.is_connected());
  CHECK(a.server.sessions() == std::vector<SessionId>{a.id()});
  CHECK(a.session.client()->state() == SessionState::Connected);
  CHECK(a.recorder.told.get().words == std::vector<std::string>{"began", "suspended", "reattached"});
}

TEST_CASE("session: an outage shorter than its timeout makes no new handle") {
  Attended a(short_session(Millis{20'000}));
  for (std::size_t i = 1; i <= 3; ++i) {
    a.server.set_reachable(false);
    REQUIRE(a.recorder.hears("suspended", i));
    a.server.set_reachable(true);
    REQUIRE(a.recorder.hears("resumed", i));
  }
  CHECK(a.handles == 1);
}

TEST_CASE("session: continues at servers with an older copy that has it") {
  Attended a(short_session());
  a.server.make_copy();
  a.server.make_by_hand("/later");
  a.server.restore_copy();
  REQUIRE(a.recorder.hears("reattached"));
  CHECK(a.server.sessions() == std::vector<SessionId>{a.id()});
  CHECK(a.handles == 2);
}

TEST_CASE("session: starts again at servers with a copy from before it") {
  FakeServer server;
  server.make_copy();
  Session session(server.factory(), short_session());
  Recorder recorder;
  session.attach(recorder);
  session.start();
  REQUIRE(recorder.hears("began"));
  server.restore_copy();
  REQUIRE(recorder.hears("began", 2));
  session.detach(recorder);
}

TEST_CASE("session: answers of a new handle count only after a sync") {
  Attended a(short_session());
  a.server.make_copy();
  for (int i = 0; i < 3; ++i) a.server.lose_next(FakeServer::Op::Sync, FakeServer::Loss::Request);
  a.server.restore_copy();
  REQUIRE(a.recorder.hears("reattached"));
  CHECK(a.server.operations(FakeServer::Op::Sync) == 4);
}

TEST_CASE("session: an observer attached between two handles is told when the session continues") {
  Attended a(short_session());
  a.server.set_reachable(false);
  REQUIRE(eventually(a.session, [&] { return a.handles.load() >= 2; }));
  Recorder late;
  a.session.attach(late);
  REQUIRE(late.hears("began without node"));
  a.server.set_reachable(true);
  CHECK(late.hears("reattached"));
  a.session.detach(late);
}

TEST_CASE("session: a stop between two handles leaves the nodes to the session") {
  Attended a(short_session());
  a.server.set_reachable(false);
  REQUIRE(eventually(a.session, [&] { return a.handles.load() >= 2; }));
  CHECK_FALSE(a.session.stop());
  CHECK(a.server.children("/").size() == 1);
}

TEST_CASE("session: after each expiry there is a new one, forever") {
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

TEST_CASE("session: waits for a server that is away at the start") {
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

TEST_CASE("session: reports a cut connection, and the same session resumes") {
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

TEST_CASE("session: a clean stop removes the ephemeral nodes and returns true") {
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

TEST_CASE("session: a stop while cut off cannot tell the server, and the nodes stay") {
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

TEST_CASE("session: a late observer is told about the present session; a detached one is told nothing") {
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

TEST_CASE("session: drops events of an earlier session's client") {
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
