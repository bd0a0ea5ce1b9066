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

TEST_CASE("membership: an empty or missing folder is told as synced and empty") {
  Fixture f;
  SUBCASE("missing") { f.server.delete_by_hand("/w"); }
  SUBCASE("empty") {}
  f.watch();
  CHECK(f.has({}));
  f.make("a");
  CHECK(f.has({"a"}));
}

TEST_CASE("membership: tells who appears, changes and vanishes") {
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

TEST_CASE("membership: a new session lists anew and tells only the difference") {
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

TEST_CASE("membership: while ZooKeeper is away the last set stays believed") {
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

TEST_CASE("membership: lost answers are asked again") {
  Fixture f;
  f.make("a");
  f.make("b");
  f.server.lose_next(Op::List, Loss::Answer);
  f.server.lose_next(Op::Get, Loss::Answer);
  f.watch();
  CHECK(f.has({"a", "b"}));
}

TEST_CASE("membership: a name that goes and comes back is read and watched anew") {
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

TEST_CASE("membership: a confirmation is told after a write and a listing") {
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

TEST_CASE("membership: a confirmation asked for while ZooKeeper is away waits") {
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
