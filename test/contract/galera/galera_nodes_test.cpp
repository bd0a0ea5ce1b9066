// Nodes that die, are cut off and come back.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_store.h"
#include "test/contract/galera/galera_fixture.h"
#include "test/support/patience.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using rota::testing::eventually;
using rota::testing::GaleraCluster;

namespace {

/// With hosts, and the waits of a master.
MysqlOptions preferring(std::initializer_list<std::size_t> nodes, const std::string& database) {
  GaleraCluster& cluster = GaleraCluster::shared();
  std::vector<DatabaseHost> hosts;
  for (const std::size_t node : nodes) hosts.push_back({"127.0.0.1", cluster.port(node)});
  MysqlOptions options;
  options.user = "rota_test";
  options.database = database;
  options.hosts = std::make_shared<DatabaseHosts>(hosts);
  return options;
}

/// As a loop does it: the same batch again until it is known to stand. How many tries it took; 0: not at all.
int apply_stubbornly(Store& store, const core::Changes& changes) {
  const MonoTime end = BootClock::now() + rota::testing::kPatience;
  for (int tries = 1; BootClock::now() < end; ++tries) {
    const auto result = store.apply(Epoch{1}, changes);
    if (result.outcome == ApplyOutcome::Applied) return tries;
    if (result.outcome == ApplyOutcome::Fenced || result.permanent) return 0;
    std::this_thread::sleep_for(Millis{20});
  }
  return 0;
}

}  // namespace

TEST_CASE("galera: when the preferred node dies, batches go through the next; it comes back by what it missed") {
  const GaleraFixture fixture;
  const MysqlOptions options = preferring({1, 0}, fixture.database);
  MysqlStore leader(options);
  CHECK(apply_stubbornly(leader, one_run(1)) == 1);
  CHECK(options.hosts->in_use() == fixture.place(1));
  fixture.cluster.kill_hard(1);
  CHECK(apply_stubbornly(leader, one_run(2)) > 0);
  CHECK(options.hosts->in_use() == fixture.place(0));
  const auto back = fixture.cluster.come_back(1);
  REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message));
  CHECK(fixture.ask(1, kCountRuns) == "2\n");
  CHECK(apply_stubbornly(leader, one_run(3)) == 1);
  CHECK(options.hosts->in_use() == fixture.place(0));  // an open connection stays where it is
}

TEST_CASE("galera: a node that comes back empty gets a copy of all") {
  const GaleraFixture fixture;
  MysqlStore leader(preferring({0}, fixture.database));
  CHECK(apply_stubbornly(leader, one_run(1)) == 1);
  fixture.cluster.kill_hard(2);
  CHECK(apply_stubbornly(leader, one_run(2)) > 0);  // the others wait until they take it for dead
  const auto back = fixture.cluster.come_back(2, true);
  REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message));
  CHECK(fixture.ask(2, kCountRuns) == "2\n");
  MysqlStore through_it(preferring({2}, fixture.database));
  CHECK(apply_stubbornly(through_it, one_run(3)) == 1);
}

TEST_CASE("galera: a batch whose answer a frozen node kept is applied once, through another node") {
  const GaleraFixture fixture;
  const MysqlOptions options = preferring({2, 0}, fixture.database);
  MysqlStore leader(options);
  CHECK(apply_stubbornly(leader, one_run(1)) == 1);
  fixture.cluster.freeze(2);
  CHECK(apply_stubbornly(leader, one_run(2)) > 1);
  fixture.cluster.thaw(2);
  REQUIRE(fixture.cluster.await_whole(2));
  for (const std::size_t node : {0U, 1U, 2U}) {
    CHECK(eventually([&] { return fixture.ask(node, kCountRuns) == "2\n"; }));
  }
}

TEST_CASE("galera: a node without the majority is not used, and says why") {
  const GaleraFixture fixture;
  const MysqlOptions options = preferring({0}, fixture.database);
  fixture.cluster.kill_hard(1);
  fixture.cluster.kill_hard(2);
  REQUIRE(eventually([&] { return fixture.cluster.status(0, "wsrep_ready") == "OFF"; }));
  const auto opened = Connection::open(options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::Unavailable);
  CHECK(opened.error().message.find("not prepared: component non-Primary") != std::string::npos);
  CHECK(opened.error().message.find("comes back by itself") != std::string::npos);
  MysqlStore leader(options);
  CHECK(leader.apply(Epoch{1}, one_run(1)).outcome == ApplyOutcome::Failed);

  // The operator's word that the others are dead: what is here is the majority.
  REQUIRE(fixture.cluster.sql(0, "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'"));
  CHECK(apply_stubbornly(leader, one_run(1)) > 0);
  for (const std::size_t node : {1U, 2U}) {
    const auto back = fixture.cluster.come_back(node);
    REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message));
  }
}

TEST_CASE("galera: a connection that is open when its node loses the majority fails by name, and is not done") {
  const GaleraFixture fixture;
  MysqlStore leader(preferring({0}, fixture.database));
  CHECK(apply_stubbornly(leader, one_run(1)) == 1);
  fixture.cluster.kill_hard(1);
  fixture.cluster.kill_hard(2);
  REQUIRE(eventually([&] { return fixture.cluster.status(0, "wsrep_ready") == "OFF"; }));
  const auto refused = leader.apply(Epoch{1}, one_run(2));
  CHECK(refused.outcome != ApplyOutcome::Applied);
  CHECK(refused.outcome != ApplyOutcome::Fenced);
  CHECK_FALSE(refused.permanent);
  REQUIRE(fixture.cluster.sql(0, "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'"));
  CHECK(apply_stubbornly(leader, one_run(2)) > 0);
  for (const std::size_t node : {1U, 2U}) REQUIRE(fixture.cluster.come_back(node));
}

TEST_CASE("galera: a leader on a cut-off node is answered, and commits, nothing after its successor's claim") {
  const GaleraFixture fixture;
  MysqlOptions cut_off = preferring({0}, fixture.database);
  MysqlStore batches(cut_off), checks(cut_off);
  CHECK(apply_stubbornly(batches, one_run(1)) == 1);
  std::atomic<bool> is_over = false;
  std::atomic<int> fenced = 0;
  MonoTime last_commit{}, last_check{};
  const auto repeat = [&](MysqlStore& store, const core::Changes& changes, MonoTime& last) {
    while (!is_over) {
      const auto result = store.apply(Epoch{1}, changes);
      if (result.outcome == ApplyOutcome::Applied) last = BootClock::now();
      if (result.outcome == ApplyOutcome::Fenced) break;
      if (result.outcome != ApplyOutcome::Applied) std::this_thread::sleep_for(Millis{5});
    }
    if (!is_over) ++fenced;
  };
  std::thread writes([&] { repeat(batches, one_run(2), last_commit); });
  std::thread asks([&] { repeat(checks, {}, last_check); });
  REQUIRE(fixture.cluster.isolate(0));
  const MysqlOptions others = preferring({1, 2}, fixture.database);
  MonoTime claimed{};
  for (const MonoTime end = BootClock::now() + rota::testing::kPatience; BootClock::now() < end;) {
    MysqlOffice successor(others, any_zone());
    const auto taken = successor.enter_office(Epoch{2}, "next");
    claimed = BootClock::now();
    if (taken || taken.error().code == ErrorCode::Conflict) break;
  }
  MysqlStore successor(others);
  REQUIRE(successor.apply(Epoch{2}, {}).outcome == ApplyOutcome::Applied);
  const std::int64_t runs = fixture.number(1, kCountRuns);
  REQUIRE(fixture.cluster.isolate(0, false));
  REQUIRE(fixture.cluster.await_whole(0));
  CHECK(eventually([&] { return fenced == 2; }));
  is_over = true;
  writes.join();
  asks.join();
  CHECK(last_commit < claimed);
  CHECK(last_check < claimed);
  CHECK(batches.apply(Epoch{1}, one_run(2)).outcome == ApplyOutcome::Fenced);
  for (const std::size_t node : {0U, 1U, 2U}) CHECK(fixture.number(node, kCountRuns) == runs);
}
