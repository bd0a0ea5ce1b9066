// The fence, and what is read, when an older leader, its successor and others use different nodes.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "common/model/request_key.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/epoch_fence.h"
#include "master/store/mysql/mysql_election.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "test/contract/galera/galera_fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using rota::testing::GaleraCluster;

TEST_CASE("galera: nothing of a deposed leader on another node is committed after its successor's claim") {
  const GaleraFixture fixture;
  Epoch epoch{1};
  std::int64_t next_id = 1;
  int after_claim = 0;
  for (int round = 0; round < 20; ++round, ++epoch.value) {
    MysqlStore old_leader(fixture.through(0));
    REQUIRE(old_leader.apply(epoch, one_run(next_id++)).outcome == ApplyOutcome::Applied);
    std::atomic<bool> is_over = false;
    std::thread batches([&] {
      while (!is_over) {
        const auto result = old_leader.apply(epoch, one_run(next_id));
        if (result.outcome == ApplyOutcome::Fenced) break;
        if (result.outcome == ApplyOutcome::Applied) ++next_id;
      }
    });
    const auto take_office = [&] {
      return MysqlOffice(fixture.through(1), any_zone()).enter_office(Epoch{epoch.value + 1}, "next");
    };
    auto taken = take_office();
    // A batch of the old leader may come first: then nothing was stored, and a master asks again.
    for (int tries = 1; tries < 50 && !taken && taken.error().code == ErrorCode::Unavailable; ++tries) {
      taken = take_office();
    }
    const std::int64_t seen = taken ? fixture.number(1, kCountRuns) : 0;
    ::usleep(20'000);
    is_over = true;
    batches.join();
    REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
    if (fixture.number(2, kCountRuns) != seen) ++after_claim;
    next_id = fixture.number(2, "SELECT COALESCE(MAX(run_id), 0) + 1 FROM run");
  }
  CHECK(after_claim == 0);
}

TEST_CASE("galera: a check behind a successor's claim is refused at once, on whatever node") {
  const GaleraFixture fixture;
  MysqlStore old_leader(fixture.through(0));
  for (std::int64_t epoch = 1; epoch < 30; ++epoch) {
    REQUIRE(old_leader.apply(Epoch{epoch}, {}).outcome == ApplyOutcome::Applied);
    REQUIRE(MysqlOffice(fixture.through(1), any_zone()).enter_office(Epoch{epoch + 1}, "next"));
    auto checked = old_leader.apply(Epoch{epoch}, {});
    CHECK(checked.outcome != ApplyOutcome::Applied);
    // What loses the certification does not learn the reason yet; on a slow node that may happen again.
    for (int tries = 1; tries < 50 && checked.outcome == ApplyOutcome::Failed; ++tries) {
      checked = old_leader.apply(Epoch{epoch}, {});
    }
    CHECK(checked.outcome == ApplyOutcome::Fenced);
    CHECK(checked.found == Epoch{epoch + 1});
  }
}

// A node was seen to answer "done" to the COMMIT of a transaction that it had undone for another node's.
TEST_CASE("galera: a COMMIT is believed only when the node has written something") {
  const GaleraFixture fixture;
  auto connection = *Connection::open(fixture.through(0), Texts::Many);
  REQUIRE(connection->begin());
  REQUIRE(enter_fence(*connection));
  REQUIRE(connection->end_transaction());
  REQUIRE(connection->begin());
  REQUIRE(enter_fence(*connection));
  REQUIRE(connection->run_text("ROLLBACK"));
  std::string why = "SAVEPOINT";
  SUBCASE("its savepoint is gone") {}
  SUBCASE("even when another has one") {
    REQUIRE(connection->begin());
    REQUIRE(connection->run_text(std::string(kMarkFence)));
    why = "nothing was written";
  }
  const auto ended = connection->end_transaction();
  REQUIRE(!ended);
  CHECK(ended.error().code == ErrorCode::Unavailable);
  CHECK(ended.error().message.find(why) != std::string::npos);
  CHECK(connection->last_sql_error() == 1213);
  CHECK(!connection->usable());
}

TEST_CASE("galera: what one node has committed, all others show") {
  const GaleraFixture fixture;
  MysqlStore leader(fixture.through(0));
  MysqlReader other(fixture.through(1), {});
  MysqlOffice office(fixture.through(2), any_zone());
  for (std::int64_t id = 1; id <= 50; ++id) {
    core::Changes changes = one_run(id);
    changes.new_runs[0].principal = "local";
    changes.new_runs[0].request_key = std::string(model::kOwnKeyPrefix) + std::to_string(1000 + id);
    REQUIRE(leader.apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(other.get_run(RunId{id}).has_value());
    CHECK(other.greatest_own_key("local").value() == changes.new_runs[0].request_key);
    CHECK(office.read_marks()->watermark == changes.watermark);
  }
}

TEST_CASE("galera: a deposed leader on another node can not settle ZooKeeper or the elector") {
  const GaleraFixture fixture;
  REQUIRE(MysqlOffice(fixture.through(1), any_zone()).enter_office(Epoch{2}, "next"));
  MysqlElection old_election(fixture.through(0));
  CHECK(old_election.set_elector(Epoch{1}, "mysql").error().code == ErrorCode::Fenced);
  CHECK(MysqlOffice(fixture.through(0), any_zone()).settle_zookeeper(Epoch{1}, {}).error().code == ErrorCode::Fenced);
}

TEST_CASE("galera: two masters on two nodes change the schema one after the other") {
  GaleraCluster& cluster = GaleraCluster::shared();
  const std::string database = cluster.fresh_database();
  std::vector<std::thread> masters;
  std::atomic<int> done = 0, waited = 0;
  for (std::size_t node = 0; node < GaleraCluster::kNodes; ++node) {
    masters.emplace_back([&, node] {
      for (int tries = 0; tries < 600; ++tries) {
        const auto upgraded = upgrade_schema(cluster.options(node, database));
        if (upgraded) return void(++done);
        if (upgraded.error().code == ErrorCode::TimedOut) ++waited;
        ::usleep(100'000);
      }
    });
  }
  for (auto& master : masters) master.join();
  CHECK(done == 3);
  CHECK(waited > 0);
  const auto steps = cluster.sql(2, "SELECT COUNT(*) FROM schema_step", database);
  CHECK(std::stoul(*steps) == schema_steps().size());
}

TEST_CASE("galera: a takeover ends only connections of its own node") {
  const GaleraFixture fixture;
  const auto bystander = Connection::open(fixture.through(1));
  REQUIRE(bystander);
  // The older leader's connection has this number on another node.
  REQUIRE(fixture.cluster.sql(0, "REPLACE INTO loop_connection (epoch, connection_id, node) VALUES (1, " +
                                     std::to_string((*bystander)->id()) + ", 'another')", fixture.database));
  const auto holder = Connection::open(fixture.through(1));
  REQUIRE((*holder)->begin());
  REQUIRE((*holder)->change("UPDATE epoch SET fences = fences + 1", {}));
  MysqlOptions impatient = fixture.through(1);
  impatient.lock_wait = Millis{1000};
  CHECK_FALSE(MysqlOffice(impatient, any_zone()).enter_office(Epoch{2}, "next"));
  CHECK((*bystander)->run_text("DO 1"));
}

// Found by claims at random moments of a batch: one of 500 batches was acknowledged, its runs undone, and its
// watermark stored.
TEST_CASE("galera: a batch is acknowledged only when it stands, whenever another node's claim comes") {
  const GaleraFixture fixture;
  MysqlStore old_leader(fixture.through(0));
  auto claimer = *Connection::open(fixture.through(1));
  auto reader = *Connection::open(fixture.through(1));
  std::atomic<int> asked = 0, claimed = 0;
  constexpr int kRounds = 1000;
  std::mt19937 random(20261123);
  std::thread claims([&] {
    std::mt19937 delay(7);
    for (int round = 1; round <= kRounds; ++round) {
      asked.wait(round - 1);
      for (const auto end = BootClock::now() + std::chrono::microseconds(delay() % 40); BootClock::now() < end;) {}
      while (!claimer->run_text("UPDATE epoch SET value = value + 1, fences = fences + 1, "
                                "dispatch_apart_for = NULL, contents_read_by = value")) {
        claimer = *Connection::open(fixture.through(1));
      }
      claimed = round;
      claimed.notify_one();
    }
  });
  int lost = 0, unsaid = 0;
  std::int64_t through_before = 0;
  for (int round = 1; round <= kRounds; ++round) {
    const Epoch epoch{round};
    const bool is_in_office = old_leader.apply(epoch, {}).outcome == ApplyOutcome::Applied;
    asked = round;
    asked.notify_one();
    ::usleep(static_cast<unsigned>(random() % 1500));
    const bool is_applied = old_leader.apply(epoch, one_run(round)).outcome == ApplyOutcome::Applied;
    claimed.wait(round - 1);
    std::int64_t found = 0, through = 0;
    REQUIRE(reader->stream("SELECT (SELECT COUNT(*) FROM run WHERE run_id = " + std::to_string(round) +
                               "), (SELECT value_ms FROM watermark)",
                           [&](Row& row) -> Result<void> {
                             found = row.integer();
                             through = row.integer();
                             return {};
                           }));
    CHECK(is_in_office);
    if (is_applied && found == 0) ++lost;
    if (!is_applied && (found > 0 || through != through_before)) ++unsaid;
    through_before = through;
  }
  claims.join();
  CHECK(lost == 0);
  CHECK(unsaid == 0);
}
