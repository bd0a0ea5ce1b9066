#include "common/zk/named_locks.h"

#include <doctest/doctest.h>

#include <thread>

#include "test/support/patience.h"
#include "test/support/zk/fake_server.h"

namespace rota::zk {

namespace {

using Op = FakeServer::Op;
using Loss = FakeServer::Loss;

/// Two workers of one cluster.
struct TwoWorkers {
  FakeServer server;
  NamedLocks first{server.factory(), {"fake", "c", Millis{4000}}};
  NamedLocks second{server.factory(), {"fake", "c", Millis{4000}}};

  static Result<std::unique_ptr<HeldLock>> take(NamedLocks& locks, const std::string& owner,
                                                     Millis at_most = Millis{20'000}) {
    return locks.take("door", owner, at_most, [](Millis) {
      std::this_thread::yield();
      return false;
    });
  }
  std::size_t nodes() const { return server.children("/rota/c/locks").size(); }
};

}  // namespace

TEST_CASE("locks: the first lock of a cluster is acquired without waiting") {
  TwoWorkers it;
  CHECK(it.take(it.first, "run 1", Millis{0}).has_value());
}

TEST_CASE("locks: one caller holds a name, another waits or gives up, and the token grows") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  CHECK((*held)->is_held());
  const auto refused = it.take(it.second, "run 2", Millis{0});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::TimedOut);
  CHECK(refused.error().message == "the lock 'door' is held by run 1");
  CHECK_FALSE(it.take(it.first, "run 3 of the same worker", Millis{0}));
  CHECK(it.first.take("window", "run 1", Millis{0}, [](Millis) { return false; }));
  const std::int64_t token = (*held)->token();
  held->reset();
  CHECK(it.nodes() == 0);
  auto next = it.take(it.second, "run 2", Millis{0});
  REQUIRE(next);
  CHECK((*next)->token() > token);
}

TEST_CASE("locks: a waiting caller gets the lock when it is released, and stops waiting when told to") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  int asked = 0;
  auto waited = it.second.take("door", "run 2", Millis{20'000}, [&](Millis pause) {
    CHECK(pause <= Millis{150});
    if (++asked == 3) held->reset();
    return false;
  });
  REQUIRE(waited);
  CHECK(asked >= 3);
  const auto told = it.first.take("door", "run 3", Millis{20'000}, [](Millis) { return true; });
  REQUIRE_FALSE(told);
  CHECK(told.error().message.find("told to stop") != std::string::npos);
  CHECK_FALSE(it.first.take("a/b", "run 4", Millis{0}, [](Millis) { return false; }));
}

TEST_CASE("locks: an event of the node wakes a waiting caller, not the clock") {
  constexpr int kPatience = 1000;  // looks; without the event there would be no end of them
  TwoWorkers it;
  NamedLocks patient{it.server.factory(), {"fake", "c", Millis{4000}}, std::chrono::hours{1}};
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  int asked = 0;
  const auto wait = [&](Millis pause) {
    std::this_thread::sleep_for(pause);  // as asked to: none between two looks, some while no session stands
    if (++asked != 2) return asked > kPatience;
    SUBCASE("given back") { held->reset(); }
    SUBCASE("its holder's session ends, and the waiter's with it") { it.server.expire_all(); }
    SUBCASE("removed by hand") { it.server.delete_by_hand("/rota/c/locks/door"); }
    return false;
  };
  CHECK(patient.take("door", "run 2", std::chrono::hours{1}, wait));
  CHECK(asked >= 2);
}

TEST_CASE("locks: a lost answer leaves neither two holders nor a lock without a holder") {
  TwoWorkers it;
  REQUIRE(it.take(it.first, "warms up"));
  SUBCASE("to the making") { it.server.lose_next(Op::Create, Loss::Answer); }
  SUBCASE("to the making, which never arrived") { it.server.lose_next(Op::Create, Loss::Request); }
  SUBCASE("to the reading") { it.server.lose_next(Op::Get, Loss::Request); }
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  CHECK_FALSE(it.take(it.second, "run 2", Millis{0}));
  held->reset();
  CHECK(it.take(it.second, "run 2", Millis{0}));
  CHECK(it.nodes() == 0);
}

TEST_CASE("locks: a lost answer to the release takes nothing from the next holder") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  SUBCASE("it took effect") { it.server.lose_next(Op::Remove, Loss::Answer); }
  SUBCASE("it never arrived") { it.server.lose_next(Op::Remove, Loss::Request); }
  held->reset();
  auto next = it.take(it.first, "run 2 of the same worker", Millis{0});
  REQUIRE(next);
  CHECK(it.nodes() == 1);
}

TEST_CASE("locks: a lock that could not be released is released once ZooKeeper is back") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  it.server.set_reachable(false);
  while ((*held)->is_held()) std::this_thread::yield();
  held->reset();
  CHECK(it.nodes() == 1);
  it.server.set_reachable(true);
  CHECK(it.take(it.second, "run 2"));
}

TEST_CASE("locks: releasing a lock that somebody removed takes it from no other holder") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  it.server.delete_by_hand("/rota/c/locks/door");
  auto next = it.take(it.second, "run 2", Millis{0});
  REQUIRE(next);
  held->reset();
  CHECK(it.nodes() == 1);
  CHECK_FALSE(it.take(it.first, "run 3", Millis{0}));
}

TEST_CASE("locks: the end of the session frees the lock, and its holder is told") {
  TwoWorkers it;
  auto held = it.take(it.first, "run 1");
  REQUIRE(held);
  it.server.expire_all();
  auto next = it.take(it.second, "run 2");
  REQUIRE(next);
  while ((*held)->is_held()) std::this_thread::yield();
  held->reset();
  CHECK(it.nodes() == 1);
  CHECK((*next)->is_held());
}

TEST_CASE("locks: an abandoned try leaves nothing behind") {
  TwoWorkers it;
  REQUIRE(it.take(it.first, "warms up"));
  it.server.lose_next(Op::Create, Loss::Answer);
  it.server.lose_next(Op::Get, Loss::Request);
  const auto gave_up = it.take(it.first, "run 1", Millis{0});
  CHECK_FALSE(gave_up);
  CHECK(it.nodes() == 0);
}

TEST_CASE("locks: a release in an outage longer than the session takes effect through a new handle") {
  FakeServer server;
  NamedLocks locks(server.factory(), {"fake", "c", Millis{30}});
  auto held = TwoWorkers::take(locks, "run 1");
  REQUIRE(held);
  server.set_reachable(false);
  held->reset();
  CHECK(server.children("/rota/c/locks").size() == 1);
  CHECK(testing::eventually([&] { return server.attempts_in_vain() > 0; }));  // a new handle is wanted
  server.set_reachable(true);
  CHECK(testing::eventually([&] { return server.children("/rota/c/locks").empty(); }));
  CHECK(server.sessions().size() == 1);
}

}  // namespace rota::zk
