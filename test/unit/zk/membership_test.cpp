#include "common/zk/membership.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "common/zk/paths.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;
using Names = std::vector<std::string>;

namespace {

struct Seen {
  std::map<std::string, std::string> members;
  Names appeared, changed, vanished;
  int synced = 0;
  std::int64_t confirmed = 0;
};

void add(Names& to, const Names& more) { to.insert(to.end(), more.begin(), more.end()); }

struct Fixture {
  FakeServer server;
  Session session{server.factory(), quick_session()};
  EventLog log;
  std::unique_ptr<Client> actor = std::move(*server.factory()(ClientOptions{}, log.handler()));
  Watched<Seen> seen;
  std::unique_ptr<Membership> membership;

  Fixture() { REQUIRE(ensure_folder(*actor, "/w").has_value()); }
  void watch() {
    membership = std::make_unique<Membership>(
        session, "/w", [this](const MembershipChange& change) { note(change); });
    session.start();
  }
  void note(const MembershipChange& change) {
    seen.change([&](Seen& all) {
      all.members = change.members;
      add(all.appeared, change.appeared);
      add(all.changed, change.changed);
      add(all.vanished, change.vanished);
      all.synced += change.synced ? 1 : 0;
      all.confirmed = std::max(all.confirmed, change.confirmed);
    });
  }
  void make(const std::string& name, const std::string& data = "") {
    REQUIRE(actor->create("/w/" + name, data, CreateMode::Ephemeral).has_value());
  }
  bool has(const Names& names) {
    return seen.becomes([&](const Seen& all) {
      Names present;
      for (const auto& [name, data] : all.members) present.push_back(name);
      return present == names && all.synced > 0;
    });
  }
};

}  // namespace

TEST_CASE("membership: reports an empty or missing folder as synced and empty") {
  Fixture f;
  SUBCASE("missing") { f.server.delete_by_hand("/w"); }
  SUBCASE("empty") {}
  f.watch();
  CHECK(f.has({}));
  f.make("a");
  CHECK(f.has({"a"}));
}

TEST_CASE("membership: reports members that appear, change and vanish") {
  Fixture f;
  f.make("a", "1");
  f.watch();
  REQUIRE(f.has({"a"}));
  f.make("b", "1");
  REQUIRE(f.has({"a", "b"}));
  REQUIRE(f.actor->set("/w/b", "2").has_value());
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.changed == Names{"b"}; }));
  CHECK(f.seen.get().members.at("b") == "2");
  REQUIRE(f.actor->set("/w/b", "3").has_value());
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.changed.size() == 2; }));
  REQUIRE(f.actor->remove("/w/a").has_value());
  CHECK(f.has({"b"}));
  CHECK(f.seen.get().vanished == Names{"a"});
  CHECK(f.seen.get().appeared == Names{"a", "b"});
  CHECK(f.seen.get().synced == 1);
}

TEST_CASE("membership: a new session lists again and reports only the difference") {
  Fixture f;
  f.make("a", "1");
  f.make("b", "1");
  f.watch();
  REQUIRE(f.has({"a", "b"}));
  f.server.set_reachable(false);
  f.server.set_reachable(true);
  REQUIRE(f.actor->remove("/w/a").has_value());
  f.make("c");
  f.server.expire(f.session.client()->session_id());
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.synced == 2; }));
  CHECK(f.has({"b", "c"}));
  CHECK(f.seen.get().appeared == Names{"a", "b", "c"});
  CHECK(f.seen.get().vanished == Names{"a"});
}

TEST_CASE("membership: while ZooKeeper is away the last set stays valid") {
  Fixture f;
  f.make("a");
  f.watch();
  REQUIRE(f.has({"a"}));
  f.server.set_reachable(false);
  f.server.expire(f.session.client()->session_id());
  settle(f.session);
  CHECK(f.seen.get().vanished.empty());
  f.server.set_reachable(true);
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.synced == 2; }));
  CHECK(f.seen.get().vanished.empty());
  CHECK(f.seen.get().appeared == Names{"a"});
}

TEST_CASE("membership: repeats requests whose answers were lost") {
  Fixture f;
  f.make("a");
  f.make("b");
  f.server.lose_next(Op::List, Loss::Answer);
  f.server.lose_next(Op::Get, Loss::Answer);
  f.watch();
  CHECK(f.has({"a", "b"}));
}

TEST_CASE("membership: a name that goes and comes back is read and watched again") {
  Fixture f;
  f.make("a", "1");
  f.watch();
  REQUIRE(f.has({"a"}));
  f.session.tasks().run(testing::kPatience, [&] {
    f.server.delete_by_hand("/w/a");
    f.make("a", "2");
  });
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.changed == Names{"a"}; }));
  REQUIRE(f.actor->set("/w/a", "3").has_value());
  CHECK(f.seen.becomes([](const Seen& all) { return all.members.at("a") == "3"; }));
}

TEST_CASE("membership: reports a confirmation after a write and a listing") {
  Fixture f;
  f.make("a");
  f.watch();
  REQUIRE(f.has({"a"}));
  const int written = f.server.operations(Op::Set);
  const int listed = f.server.operations(Op::List);
  SUBCASE("answered") {}
  SUBCASE("its write was lost") { f.server.lose_next(Op::Set, Loss::Request); }
  SUBCASE("its listing was lost") { f.server.lose_next(Op::List, Loss::Request); }
  f.membership->confirm(7);
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.confirmed == 7; }));
  CHECK(f.server.operations(Op::Set) > written);
  CHECK(f.server.operations(Op::List) > listed);
}

TEST_CASE("membership: a requested confirmation waits while ZooKeeper is away") {
  Fixture f;
  f.watch();
  REQUIRE(f.has({}));
  f.server.set_reachable(false);
  f.membership->confirm(1);
  settle(f.session);
  CHECK(f.seen.get().confirmed == 0);
  f.server.set_reachable(true);
  CHECK(f.seen.becomes([](const Seen& all) { return all.confirmed == 1; }));
}

TEST_CASE("membership: nodes that no session owns are not members, and are named") {
  Fixture f;
  f.make("a@1");
  f.server.make_by_hand("/w/b@1");
  f.watch();
  REQUIRE(f.has({"a@1"}));
  CHECK(f.membership->trouble().ownerless == Names{"/w/b@1"});
  f.server.delete_by_hand("/w/b@1");
  f.make("c@1");
  REQUIRE(f.has({"a@1", "c@1"}));
  CHECK(f.membership->trouble().ownerless.empty());
  CHECK(f.seen.get().vanished.empty());
}

namespace {

/// A membership whose servers lose their data while it knows two members.
struct Losing {
  FakeServer server;
  SessionOptions options = [] {
    SessionOptions quick = quick_session();
    quick.client.session_timeout = Millis{30};
    return quick;
  }();
  Session session{server.factory(), options};
  EventLog log;
  std::unique_ptr<Client> actor;
  Watched<Seen> seen;
  std::unique_ptr<Membership> membership;

  explicit Losing(Millis hold) {
    enter();
    make("a@1");
    make("b@1");
    membership = std::make_unique<Membership>(
        session, "/w",
        [this](const MembershipChange& change) {
          seen.change([&](Seen& all) {
            all.members = change.members;
            add(all.appeared, change.appeared);
            add(all.vanished, change.vanished);
            all.synced += change.synced ? 1 : 0;
            all.confirmed = std::max(all.confirmed, change.confirmed);
          });
        },
        hold);
    session.start();
    REQUIRE(seen.becomes([](const Seen& all) { return all.members.size() == 2; }));
  }
  ~Losing() { membership.reset(); }
  void enter() {
    actor = std::move(*server.factory()(ClientOptions{}, log.handler()));
    REQUIRE(ensure_folder(*actor, "/w").has_value());
  }
  void make(const std::string& name) {
    REQUIRE(actor->create("/w/" + name, "", CreateMode::Ephemeral).has_value());
  }
  /// The servers have a copy that knows a@1 and b@1; a@2 has come in a@1's place since.
  void replace_a_after_copy() {
    server.make_copy();
    REQUIRE(actor->remove("/w/a@1").has_value());
    make("a@2");
    REQUIRE(seen.becomes([](const Seen& all) { return all.members.contains("a@2"); }));
    REQUIRE(seen.becomes([](const Seen& all) { return !all.members.contains("a@1"); }));
  }
  bool synced_again() {
    return seen.becomes([](const Seen& all) { return all.synced == 2; });
  }
};

constexpr Millis kLong{3'600'000};

}  // namespace

TEST_CASE("membership: after ZooKeeper lost its data, no member vanishes before it could register again") {
  Losing f(kLong);
  f.server.wipe();
  REQUIRE(f.synced_again());
  CHECK(f.seen.get().vanished.empty());
  CHECK(f.seen.get().members.size() == 2);
  CHECK(f.membership->trouble().awaited == Names{"a@1", "b@1"});
  f.membership->confirm(5);
  f.enter();
  f.make("a@2");
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.vanished == Names{"a@1"}; }));
  CHECK(f.seen.get().appeared == Names{"a@1", "b@1", "a@2"});
  CHECK(f.seen.get().confirmed == 0);
  CHECK(f.membership->trouble().awaited == Names{"b@1"});
  f.make("b@2");
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.vanished == Names{"a@1", "b@1"}; }));
  CHECK(f.seen.becomes([](const Seen& all) { return all.confirmed == 5; }));
  CHECK(f.membership->trouble().awaited.empty());
}

TEST_CASE("membership: a life that registers on wiped servers before the leader lists counts as the present one") {
  Losing f(kLong);
  f.server.wipe();
  f.enter();  // before the session of the membership is tried by a new handle
  f.make("a@2");
  REQUIRE(f.synced_again());
  CHECK(f.seen.becomes([](const Seen& all) { return all.vanished == Names{"a@1"}; }));
  CHECK(f.membership->trouble().awaited == Names{"b@1"});
}

TEST_CASE("membership: a life that registers on an older copy before the leader lists counts as the present one") {
  Losing f(kLong);
  f.replace_a_after_copy();
  f.server.restore_copy();
  f.enter();  // before the session of the membership is tried by a new handle
  f.make("a@3");
  CHECK(f.seen.becomes([](const Seen& all) { return all.members.contains("a@3") && !all.members.contains("a@2"); }));
  CHECK(f.membership->trouble().awaited.empty());
}

TEST_CASE("membership: a member that does not register again after a loss of data vanishes in the end") {
  Losing f(Millis{100});
  f.server.wipe();
  REQUIRE(f.synced_again());
  CHECK(f.seen.becomes([](const Seen& all) { return all.vanished == Names{"a@1", "b@1"}; }));
}

TEST_CASE("membership: an earlier life in an older copy does not replace the present one") {
  Losing f(kLong);
  f.replace_a_after_copy();
  f.server.restore_copy();
  REQUIRE(eventually(f.session, [&] { return f.membership->trouble().awaited == Names{"a@2"}; }));
  CHECK(f.seen.get().members.contains("a@2"));
  f.enter();
  f.make("a@3");  // it registers again: now the earlier life is over
  CHECK(f.seen.becomes([](const Seen& all) { return all.members.contains("a@3") && !all.members.contains("a@2"); }));
}

TEST_CASE("membership: an older copy is noticed by its smaller numbers") {
  Losing f(kLong);
  f.server.make_copy();  // knows both
  f.make("c@1");
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.members.size() == 3; }));
  f.server.restore_copy();
  REQUIRE(eventually(f.session, [&] { return f.membership->trouble().awaited == Names{"c@1"}; }));
  CHECK(f.seen.get().vanished.empty());
}

TEST_CASE("membership: a loss is also noticed when the servers have counted beyond what was seen") {
  Losing f(kLong);
  f.server.wipe();
  f.enter();
  for (int i = 0; i < 100; ++i) REQUIRE(f.actor->set("/w", "x").has_value());
  REQUIRE(f.synced_again());
  CHECK(f.membership->trouble().awaited == Names{"a@1", "b@1"});
  CHECK(f.seen.get().vanished.empty());
}

TEST_CASE("membership: an older copy is also noticed when other users made the servers count on") {
  Losing f(kLong);
  f.server.make_copy();
  f.make("c@1");
  REQUIRE(f.seen.becomes([](const Seen& all) { return all.members.size() == 3; }));
  settle(f.session);
  f.server.restore_copy();
  f.enter();
  REQUIRE(f.actor->create("/other", "", CreateMode::Persistent).has_value());
  for (int i = 0; i < 100; ++i) REQUIRE(f.actor->set("/other", "x").has_value());
  REQUIRE(eventually(f.session, [&] { return f.membership->trouble().awaited == Names{"c@1"}; }));
  CHECK(f.seen.get().vanished.empty());
}

TEST_CASE("membership: after an outage without data loss, a missing member has vanished at once") {
  Losing f(kLong);
  f.server.set_reachable(false);
  f.server.expire(f.actor->session_id());
  f.server.set_reachable(true);
  CHECK(f.seen.becomes([](const Seen& all) { return all.vanished == Names{"a@1", "b@1"}; }));
  CHECK(f.membership->trouble().awaited.empty());
}

TEST_CASE("membership: a new handle arms all watches again") {
  Losing f(kLong);
  f.server.set_reachable(false);
  REQUIRE(f.session.tasks().run(testing::kPatience, [] {}));
  REQUIRE(eventually(f.session, [&] { return f.session.client()->state() == SessionState::Closed; }));
  f.server.set_reachable(true);
  REQUIRE(eventually(f.session, [&] { return f.session.is_connected(); }));
  settle(f.session);
  REQUIRE(f.actor->set("/w/a@1", "new").has_value());
  CHECK(f.seen.becomes([](const Seen& all) { return all.members.at("a@1") == "new"; }));
  f.make("d@1");
  CHECK(f.seen.becomes([](const Seen& all) { return all.members.contains("d@1"); }));
  CHECK(f.seen.get().vanished.empty());
}
