// Two ZooKeepers and one database: who may take office through which, and what a leader does when his own
// loses its data.
#include "master/upkeep/zookeeper_keeper.h"

#include <doctest/doctest.h>

#include "master/store/memory/memory_store.h"
#include "master/office/takeover.h"
#include "master/office/zookeeper_word.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::master;

namespace {

/// A ZooKeeper with a candidate of its own.
struct Side {
  explicit Side(const std::string& name) : self{name, Millis{5000}} { self.address = name + ":7100"; }

  Result<Office> take(store::Office& database) { return enter_office(*client, paths, database, self); }
  Result<ZookeeperFinding> keep(store::Office& database, bool alarmed = false) {
    return keeper.look(*client, paths, database, alarmed);
  }
  Office lead(store::Office& database) {
    auto office = take(database);
    REQUIRE_MESSAGE(office.has_value(), (office ? "" : office.error().message));
    keeper.begin(office->epoch, office->cluster_uuid);
    REQUIRE(keep(database) == ZookeeperFinding::Fine);
    return std::move(*office);
  }
  void wipe() {
    for (const auto& path : {paths.identity(), paths.epoch(), paths.cluster_uuid()}) server.delete_by_hand(path);
  }
  void be_quiet() {
    self.quiet = [](const store::Office::Marks&) { return Millis{60'000}; };
  }
  Epoch epoch() { return zk::read_epoch(*client, paths)->epoch; }

  zk::FakeServer server;
  zk::EventLog log;
  zk::Paths paths{"c"};
  std::unique_ptr<zk::Client> client = std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  Candidate self;
  ZookeeperKeeper keeper;
};

struct TwoSides {
  /// A run of the first cluster that is under way.
  void begin_run() {
    core::Changes batch;
    model::Run run;
    run.id = RunId{1};
    run.job = JobId{2};
    run.progress.state = model::RunState::Running;
    run.progress.worker = {"w", "home-1"};
    model::Job job;
    job.id = JobId{2};
    batch.jobs = {job};
    batch.new_runs = {run};
    const auto applied = database.apply(database.read_marks()->epoch, batch);
    REQUIRE_MESSAGE(applied.outcome == store::ApplyOutcome::Applied, applied.detail);
  }
  void refused(Side& side, const char* part) {
    const Epoch before = database.read_marks()->epoch;
    const auto office = side.take(database);
    REQUIRE_FALSE(office);
    CHECK(office.error().code == ErrorCode::Fenced);
    CAPTURE(office.error().message);
    CHECK(office.error().message.find("master 'first' at first:7100") != std::string::npos);
    CHECK(office.error().message.find("rota-master --accept-new-zookeeper") != std::string::npos);
    CHECK(office.error().message.find(part) != std::string::npos);
    CHECK(database.read_marks()->epoch == before);
    CHECK(side.epoch() == Epoch{0});
  }

  store::MemoryStore database;
  Side first{"first"}, second{"second"};
};

}  // namespace

TEST_CASE("takeover: a second cluster on a fresh ZooKeeper leaves a living cluster's database alone") {
  TwoSides two;
  two.first.lead(two.database);
  two.refused(two.second, "it is led by");
  two.first.lead(two.database);
}

TEST_CASE("takeover: a second cluster asks the operator while attempts of the first may live") {
  TwoSides two;
  two.first.lead(two.database);
  two.begin_run();
  two.second.be_quiet();
  two.refused(two.second, "1 of its attempts have not ended");
}

TEST_CASE("takeover: a fresh ZooKeeper is adopted when nobody leads and nothing runs, and the old one is foreign") {
  TwoSides two;
  two.first.lead(two.database);
  two.second.be_quiet();
  const Office office = two.second.lead(two.database);
  CHECK(office.ruling == OfficeRuling::Adopt);
  CHECK(office.zookeeper_is_new);
  CHECK(office.recovered.zookeeper_number == 1);
  const auto again = two.first.take(two.database);
  REQUIRE_FALSE(again);
  CHECK(again.error().message.find("master 'second' at second:7100") != std::string::npos);
  CHECK(two.second.lead(two.database).ruling == OfficeRuling::Take);
}

TEST_CASE("takeover: the operator's word lets another ZooKeeper in, and its workers are waited for until he says more") {
  TwoSides two;
  two.first.lead(two.database);
  two.begin_run();
  auto said = accept_new_zookeeper(*two.second.client, two.second.paths, two.database, false);
  REQUIRE_MESSAGE(said.has_value(), (said ? "" : said.error().message));
  CHECK(said->find("first:7100") != std::string::npos);
  const Office office = two.second.lead(two.database);
  CHECK(office.ruling == OfficeRuling::TakeAccepted);
  CHECK(office.recovered.unseen == std::vector<model::WorkerKey>{{"w", "home-1"}});
  CHECK(two.second.lead(two.database).recovered.unseen.size() == 1);

  REQUIRE(accept_new_zookeeper(*two.second.client, two.second.paths, two.database, false)->starts_with("nothing"));
  REQUIRE(accept_new_zookeeper(*two.second.client, two.second.paths, two.database, true));
  CHECK(two.second.keep(two.database) == ZookeeperFinding::WorkersGone);
  CHECK(two.second.keep(two.database) == ZookeeperFinding::Fine);
  CHECK(two.second.lead(two.database).recovered.unseen.empty());
}

TEST_CASE("takeover: the operator's word is void once anybody has taken office") {
  TwoSides two;
  two.first.lead(two.database);
  REQUIRE(accept_new_zookeeper(*two.second.client, two.second.paths, two.database, false));
  two.first.lead(two.database);
  two.refused(two.second, "it is led by");
}

TEST_CASE("takeover: a database that older masters led is marked by the first newer one") {
  TwoSides two;
  REQUIRE(zk::ensure_cluster(*two.first.client, two.first.paths));
  REQUIRE(zk::create_cluster_uuid(*two.first.client, two.first.paths, "u"));
  REQUIRE(zk::write_epoch(*two.first.client, two.first.paths, Epoch{4}, {}));
  REQUIRE(two.database.settle_uuid("u"));
  REQUIRE(two.database.enter_office(Epoch{4}, "first"));
  two.begin_run();
  const Office office = two.first.lead(two.database);
  CHECK(office.ruling == OfficeRuling::TakeAndMark);
  CHECK_FALSE(office.zookeeper_is_new);
  CHECK(office.recovered.unseen.empty());
  CHECK(two.database.read_marks()->zookeeper->identity == *zk::read_identity(*two.first.client, two.first.paths));
}

TEST_CASE("takeover: a ZooKeeper that does not answer is unknown, and nothing is taken") {
  TwoSides two;
  two.first.lead(two.database);
  two.second.be_quiet();
  two.second.server.set_reachable(false);
  const auto office = two.second.take(two.database);
  REQUIRE_FALSE(office);
  CHECK(office.error().code != ErrorCode::Fenced);
  CHECK(two.database.read_marks()->epoch == Epoch{1});
}

TEST_CASE("keeper: a leader writes identity, epoch and uuid again when ZooKeeper was wiped under it") {
  TwoSides two;
  const Office office = two.first.lead(two.database);
  two.begin_run();
  two.first.wipe();
  REQUIRE_FALSE(two.first.take(two.database));  // a candidate leaves it to the leader
  CHECK(two.first.keep(two.database) == ZookeeperFinding::Repaired);
  CHECK(two.first.keeper.number() == 1);
  CHECK(two.first.epoch() == office.epoch);
  CHECK(*zk::read_cluster_uuid(*two.first.client, two.first.paths) == office.cluster_uuid);
  CHECK(two.first.keep(two.database) == ZookeeperFinding::Fine);
  const Office next = two.first.lead(two.database);
  CHECK(next.epoch > office.epoch);
  CHECK(next.recovered.unseen.size() == 1);
}

TEST_CASE("keeper: a leader raises an epoch that went back with ZooKeeper") {
  TwoSides two;
  two.first.lead(two.database);
  const Office office = two.first.lead(two.database);
  REQUIRE(two.first.client->set(two.first.paths.epoch(), "1 old", zk::kAnyVersion));
  CHECK(two.first.keep(two.database) == ZookeeperFinding::Repaired);
  CHECK(two.first.epoch() == office.epoch);
}

TEST_CASE("keeper: who is no longer in office writes nothing") {
  TwoSides two;
  two.first.lead(two.database);
  two.first.wipe();
  REQUIRE(two.database.enter_office(Epoch{9}, "other"));
  CHECK(two.first.keep(two.database) == ZookeeperFinding::Refused);
  CHECK(two.first.epoch() == Epoch{0});
  CHECK_FALSE(zk::read_identity(*two.first.client, two.first.paths)->has_value());
}

TEST_CASE("keeper: a restore that is not accepted yet is known to a wiped ZooKeeper again") {
  TwoSides two;
  two.first.lead(two.database);
  two.first.wipe();
  CHECK(two.first.keep(two.database, true) == ZookeeperFinding::Repaired);
  CHECK(*is_restore_held(*two.first.client, two.first.paths));
}

TEST_CASE("keeper: a repair that stopped half way is done again, and candidates wait for it") {
  TwoSides two;
  two.first.lead(two.database);
  for (const auto op : {zk::FakeServer::Op::Set, zk::FakeServer::Op::Create}) {
    two.first.wipe();
    two.first.server.lose_next(op, zk::FakeServer::Loss::Answer);
    for (int tries = 0; tries < 5; ++tries) {
      const auto found = two.first.keep(two.database);
      if (found == ZookeeperFinding::Fine || found == ZookeeperFinding::Repaired) break;
      CHECK_FALSE(two.first.take(two.database));
    }
    CHECK(two.first.keep(two.database) == ZookeeperFinding::Fine);
  }
}
