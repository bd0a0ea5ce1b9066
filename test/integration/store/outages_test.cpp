// The server killed, frozen and started again.
#include <doctest/doctest.h>

#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "test/integration/store/fixture.h"
#include "test/support/patience.h"
#include "test/support/stall_meter.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("outage: after kill -9 of the server everything applied is there, and work goes on") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  MysqlReader reader(fixture.options);
  REQUIRE(store.apply(Epoch{1}, new_runs(100, 50)).outcome == ApplyOutcome::Applied);
  REQUIRE(reader.get_run(RunId{100}));
  REQUIRE(office.probe());

  fixture.server.kill_hard();
  CHECK(store.apply(Epoch{1}, new_runs(200, 50)).outcome == ApplyOutcome::Failed);
  CHECK(store.apply(Epoch{1}, new_runs(200, 50)).outcome == ApplyOutcome::Failed);
  CHECK(office.probe().error().code == ErrorCode::Unavailable);
  CHECK(reader.get_run(RunId{100}).error().code == ErrorCode::Unavailable);

  REQUIRE(fixture.server.restart());
  CHECK(store.apply(Epoch{1}, new_runs(200, 50)).outcome == ApplyOutcome::Applied);
  CHECK(office.probe());
  CHECK(fixture.runs() == 100);
  CHECK(office.recover()->runs.size() == 100);
}

TEST_CASE("outage: a frozen server costs at most the timeouts, and nothing hangs") {
  const Fixture fixture;
  auto options = fixture.options;
  options.connect_timeout = options.read_timeout = options.write_timeout = Millis{1000};
  MysqlStore store(options);
  REQUIRE(rota::testing::eventually(
      [&] { return store.apply(Epoch{1}, new_runs(100, 1)).outcome == ApplyOutcome::Applied; }));
  fixture.server.freeze();
  const rota::testing::StallMeter stalls;
  for (const std::string where : {"kept_connection", "new_connection"}) {
    const MonoTime start = BootClock::now();
    const auto result = store.apply(Epoch{1}, new_runs(101, 1));
    const Millis took = floor_ms(stalls.fair_since(start));
    MESSAGE("figure: apply_on_frozen_server ", where, "_ms=", took.count());
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(took < Millis{4000});
  }
  fixture.server.thaw();
  // With timeouts as short as these a machine that stands still costs another try.
  CHECK(rota::testing::eventually(
      [&] { return store.apply(Epoch{1}, new_runs(101, 1)).outcome == ApplyOutcome::Applied; }));
  CHECK(fixture.runs() == 2);
}
