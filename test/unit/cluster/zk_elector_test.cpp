#include "master/cluster/zk_elector.h"

#include <doctest/doctest.h>

#include "common/zk/leader_lookup.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;
using namespace rota::master::cluster;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;

namespace {

const Paths kPaths{"c"};

struct Office {
  int elected = 0;
  int lost = 0;
  bool first = false;
};

/// A master's share in the election: session, elector, and what the elector said.
struct Master final : ElectorObserver {
  Watched<Office> office;
  Session session;
  ZkElector elector;

  Master(FakeServer& server, const std::string& id, Millis timeout = Millis{4000})
      : session(server.factory(), session_of(timeout)), elector(session, kPaths, id, *this) {
    session.start();
    elector.campaign();
  }
  static SessionOptions session_of(Millis timeout) {
    SessionOptions options = quick_session();
    options.client.session_timeout = timeout;
    return options;
  }
  void elected() override {
    office.change([](Office& now) { now = {now.elected + 1, now.lost, true}; });
  }
  void lost(std::string_view) override {
    office.change([](Office& now) { now = {now.elected, now.lost + 1, false}; });
  }
  bool is_elected(int times = 1) {
    return office.becomes([&](const Office& now) { return now.elected == times && now.first; });
  }
  bool stands(FakeServer& server, std::size_t candidates) {
    return eventually(session,
                      [&] { return server.children(kPaths.election()).size() == candidates; });
  }
};

}  // namespace

TEST_CASE("elector: the first candidate is elected, the second waits for it") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  Master two(server, "m2");
  REQUIRE(two.stands(server, 2));
  settle(two.session);
  CHECK_FALSE(two.elector.is_first());
  SUBCASE("it stops") { one.session.stop(); }
  SUBCASE("its session expires") { server.expire(one.session.client()->session_id()); }
  SUBCASE("it resigns") { one.elector.resign(); }
  CHECK(two.is_elected());
  CHECK(one.office.becomes([](const Office& now) { return now.lost == 1; }));
}

TEST_CASE("elector: names the candidate before a master") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  REQUIRE(eventually(one.session, [&] { return one.elector.candidacy().stands; }));
  CHECK(one.elector.candidacy().predecessor.empty());
  const auto first = server.children(kPaths.election()).at(0);
  Master two(server, "m2");
  REQUIRE(eventually(two.session, [&] { return two.elector.candidacy().predecessor == first; }));
  two.elector.resign();
  CHECK(eventually(two.session, [&] { return !two.elector.candidacy().stands; }));
}

TEST_CASE("elector: when the middle candidate goes, the next watches its predecessor") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  auto two = std::make_unique<Master>(server, "m2");
  REQUIRE(two->stands(server, 2));
  Master three(server, "m3");
  REQUIRE(three.stands(server, 3));
  two->session.stop();
  REQUIRE(three.stands(server, 2));
  settle(three.session);
  CHECK_FALSE(three.elector.is_first());
  one.session.stop();
  CHECK(three.is_elected());
}

TEST_CASE("elector: a leader whose node is deleted by hand joins again and is first again") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  const LeaderHint hint{Epoch{3}, "127.0.0.1", 7101};
  one.elector.publish(hint);
  const auto client = one.session.client();
  REQUIRE(eventually(one.session, [&] { return find_leader(*client, kPaths) == hint; }));
  server.delete_by_hand(kPaths.election() + "/" + server.children(kPaths.election()).front());
  CHECK(one.is_elected(2));
  // The hint is told again, since the Term goes on.
  CHECK(*find_leader(*client, kPaths) == hint);
  one.elector.withdraw_hint();
  CHECK(eventually(one.session, [&] { return !find_leader(*client, kPaths).has_value(); }));
}

TEST_CASE("elector: a candidate is elected again in each new session") {
  FakeServer server;
  Master one(server, "m1");
  for (int i = 1; i < 5; ++i) {
    REQUIRE(one.is_elected(i));
    server.expire_all();
  }
  REQUIRE(one.is_elected(5));
  CHECK(server.children(kPaths.election()).size() == 1);
}

TEST_CASE("elector: silence of ZooKeeper loses no office") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  server.set_reachable(false);
  settle(one.session);
  CHECK(one.elector.is_first());
  server.set_reachable(true);
  settle(one.session);
  CHECK(one.office.get().lost == 0);
}

TEST_CASE("elector: lost answers leave no ghost in the election") {
  FakeServer server;
  Master helper(server, "m0");
  REQUIRE(helper.is_elected());
  const std::vector<std::pair<Op, Loss>> troubles{
      {Op::Create, Loss::Answer}, {Op::Create, Loss::Request}, {Op::Create, Loss::Late},
      {Op::List, Loss::Answer},   {Op::Get, Loss::Answer},     {Op::Exists, Loss::Answer}};
  for (const auto& trouble : troubles) {  // no bindings: clang 14's lambdas cannot hold them
    CAPTURE(static_cast<int>(trouble.first));
    CAPTURE(static_cast<int>(trouble.second));
    server.lose_next(trouble.first, trouble.second);
    Master one(server, "m1");
    REQUIRE(one.stands(server, 2));
    settle(one.session);
    CHECK(server.children(kPaths.election()).size() == 2);
    server.lose_next(Op::Remove, Loss::Request);
    one.elector.resign();
    CHECK(one.stands(server, 1));
  }
}

TEST_CASE("elector: a create is found although its answer and its look-up were both lost") {
  FakeServer server;
  server.lose_next(Op::Create, Loss::Request);  // before there is a folder
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  one.elector.resign();
  REQUIRE(one.stands(server, 0));
  server.lose_next(Op::Create, Loss::Answer);
  server.lose_next(Op::Sync, Loss::Request);
  one.elector.campaign();
  REQUIRE(one.is_elected(2));
  CHECK(server.children(kPaths.election()).size() == 1);
}

TEST_CASE("elector: a master that is not eligible never stands") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  one.elector.set_eligible(false);
  REQUIRE(one.stands(server, 0));
  server.expire_all();
  REQUIRE(one.session.wait_connected(testing::kPatience).has_value());
  settle(one.session);
  CHECK(server.children(kPaths.election()).empty());
  one.elector.set_eligible(true);
  CHECK(one.is_elected(2));
}

TEST_CASE("elector: a wrapped sequence changes nothing in the order") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  server.set_next_sequence(kPaths.election(), 2147483647);
  one.elector.resign();
  REQUIRE(one.stands(server, 0));
  one.elector.campaign();
  REQUIRE(one.is_elected(2));
  Master two(server, "m2");
  REQUIRE(two.stands(server, 2));
  settle(two.session);
  CHECK_FALSE(two.elector.is_first());
  one.session.stop();
  CHECK(two.is_elected());
}

TEST_CASE("elector: a candidate that no session owns blocks no master, and is named until it is deleted") {
  FakeServer server;
  const std::string copied = kPaths.election() + "/n_0000000000000001_0000000000";
  {
    Master former(server, "m0");  // so that the folder is there
    REQUIRE(former.is_elected());
  }
  server.expire_all();
  server.make_by_hand(copied);
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  CHECK(one.elector.ownerless() == std::vector<std::string>{copied});
  Master two(server, "m2");
  REQUIRE(two.stands(server, 3));
  server.delete_by_hand(copied);
  one.session.stop();
  REQUIRE(two.is_elected());
  CHECK(two.elector.ownerless().empty());
}

TEST_CASE("elector: where the counter is at its end and repeats, one leads and not two") {
  FakeServer server;
  Master one(server, "m1");
  REQUIRE(one.is_elected());
  server.set_next_sequence(kPaths.election(), 2147483647);
  Master two(server, "m2");
  REQUIRE(two.stands(server, 2));
  server.set_next_sequence(kPaths.election(), 2147483647);
  Master three(server, "m3");
  REQUIRE(three.stands(server, 3));
  one.session.stop();
  REQUIRE(two.is_elected());
  settle(three.session);
  CHECK_FALSE(three.elector.is_first());
  two.session.stop();
  CHECK(three.is_elected());
}

TEST_CASE("elector: after ZooKeeper lost its data, a candidate creates the folders again, and one is elected") {
  FakeServer server;
  Master one(server, "m1", Millis{30});
  REQUIRE(one.is_elected());
  Master two(server, "m2", Millis{30});
  REQUIRE(two.stands(server, 2));
  server.wipe();
  REQUIRE(one.stands(server, 2));
  CHECK(eventually(one.session, [&] { return one.elector.is_first() != two.elector.is_first(); }));
  CHECK(eventually(one.session, [&] { return server.children("/rota/c").size() >= 4; }));
}

TEST_CASE("elector: an older candidate of the same session that came back with older data blocks no master") {
  FakeServer server;
  Master one(server, "m1", Millis{30});
  REQUIRE(one.is_elected());
  server.make_copy();
  one.elector.resign();
  one.elector.campaign();
  REQUIRE(one.is_elected(2));
  server.restore_copy();
  REQUIRE(one.is_elected(3));
  CHECK(one.stands(server, 1));
}

TEST_CASE("elector: an older candidate that comes back goes again, though its master does not stand any more") {
  FakeServer server;
  Master one(server, "m1", Millis{30});
  REQUIRE(one.is_elected());
  server.make_copy();
  one.elector.resign();
  REQUIRE(one.stands(server, 0));
  server.restore_copy();
  REQUIRE(one.stands(server, 0));
  Master other(server, "m2");
  CHECK(other.is_elected());
}
