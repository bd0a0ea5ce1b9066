// Lost statements and lost COMMITs: what apply answers, and that the rerun applies once.
#include <doctest/doctest.h>

#include "master/store/mysql/mysql_store.h"
#include "test/support/cutting_proxy.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using rota::testing::CuttingProxy;

namespace {

/// The packet "run this text" with the text COMMIT (and not SET … READ COMMITTED).
const std::string kCommit = "\x03" "COMMIT";

}  // namespace

TEST_CASE("apply: a connection that dies before COMMIT is Failed, and nothing is stored") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlStore store(fixture.through(proxy.port()));
  const auto batch = new_runs(100, 3);
  proxy.at("INSERT INTO watermark", CuttingProxy::Deed::CutBefore);  // the last statement
  const auto result = store.apply(Epoch{1}, batch);
  CHECK(result.outcome == ApplyOutcome::Failed);
  CHECK_FALSE(result.permanent);
  CHECK(fixture.runs() == 0);
  CHECK(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Applied);
  CHECK(fixture.runs() == 3);
}

TEST_CASE("apply: a kept connection killed by the server is Failed once, then replaced") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, new_runs(100, 1)).outcome == ApplyOutcome::Applied);
  const auto id = fixture.number("SELECT connection_id FROM loop_connection WHERE epoch = 1");
  REQUIRE(fixture.server.sql("KILL " + std::to_string(id)));
  CHECK(store.apply(Epoch{1}, new_runs(101, 1)).outcome == ApplyOutcome::Failed);
  CHECK(fixture.runs() == 1);
  CHECK(store.apply(Epoch{1}, new_runs(101, 1)).outcome == ApplyOutcome::Applied);
  CHECK(fixture.runs() == 2);
  CHECK(fixture.number("SELECT connection_id FROM loop_connection WHERE epoch = 1") != id);
}

TEST_CASE("apply: behind a new connection, a database without the last transactions is one that went back") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  auto batch = new_runs(100, 1);
  REQUIRE(batch.watermark);
  REQUIRE(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Applied);
  const auto promote = [&](std::int64_t lost_ms) {
    const auto id = fixture.number("SELECT connection_id FROM loop_connection WHERE epoch = 1");
    REQUIRE(fixture.server.sql("UPDATE watermark SET value_ms = value_ms - " + std::to_string(lost_ms),
                               fixture.options.database));
    REQUIRE(fixture.server.sql("KILL " + std::to_string(id)));
    CHECK_FALSE(store.apply(Epoch{1}, batch).went_back);  // the dead connection
  };
  promote(0);
  CHECK(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Applied);
  promote(1);
  for (const auto& one : {batch, master::core::Changes{}}) {  // also for a bare check
    const auto result = store.apply(Epoch{1}, one);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    CHECK(result.went_back);
  }
  REQUIRE(MysqlOffice(fixture.options, utc_only()).enter_office(Epoch{2}, "next"));
  const auto deposed = store.apply(Epoch{1}, batch);  // what is lost is the successor's concern
  CHECK(deposed.outcome == ApplyOutcome::Fenced);
  CHECK_FALSE(deposed.went_back);
  CHECK(store.apply(Epoch{2}, batch).outcome == ApplyOutcome::Applied);  // the next Term reads what stands
}

TEST_CASE("apply: COMMIT lost on its way is Unknown, and the rerun applies once") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlStore store(fixture.through(proxy.port()));
  const auto batch = new_runs(100, 3);
  proxy.at(kCommit, CuttingProxy::Deed::CutBefore);
  CHECK(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Unknown);
  CHECK(proxy.wait_until_done());
  CHECK(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Applied);
  CHECK(fixture.runs() == 3);
}

TEST_CASE("apply: COMMIT done with its answer lost is Unknown, and the rerun applies once") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlStore store(fixture.through(proxy.port()));
  const auto born = new_runs(100, 3);
  proxy.at(kCommit, CuttingProxy::Deed::CutAfter);
  CHECK(store.apply(Epoch{1}, born).outcome == ApplyOutcome::Unknown);
  CHECK(proxy.wait_until_done());
  CHECK(fixture.runs() == 3);  // it stood
  CHECK(store.apply(Epoch{1}, born).outcome == ApplyOutcome::Applied);
  CHECK(fixture.runs() == 3);

  const auto ends = final_updates(born);
  proxy.at(kCommit, CuttingProxy::Deed::CutAfter);
  CHECK(store.apply(Epoch{1}, ends).outcome == ApplyOutcome::Unknown);
  CHECK(store.apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);
  CHECK(fixture.number("SELECT COUNT(*) FROM run WHERE state = 'succeeded'") == 3);
}

TEST_CASE("apply: after an unknown COMMIT a successor's epoch fences the rerun") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlStore store(fixture.through(proxy.port()));
  proxy.at(kCommit, CuttingProxy::Deed::CutBefore);
  CHECK(store.apply(Epoch{1}, new_runs(100, 3)).outcome == ApplyOutcome::Unknown);
  REQUIRE(MysqlOffice(fixture.options, utc_only()).enter_office(Epoch{2}, "next"));
  const auto result = store.apply(Epoch{1}, new_runs(100, 3));
  CHECK(result.outcome == ApplyOutcome::Fenced);
  CHECK(result.found == Epoch{2});
  CHECK(fixture.runs() == 0);
}
