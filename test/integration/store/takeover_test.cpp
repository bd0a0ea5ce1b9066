// An old leader in the middle of a transaction, and the one that takes office meanwhile.
#include <doctest/doctest.h>

#include <thread>

#include "master/store/mysql/mysql_store.h"
#include "test/support/cutting_proxy.h"
#include "test/support/stall_meter.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using rota::testing::CuttingProxy;

namespace {

/// The packet "run this text" with the text COMMIT (and not SET … READ COMMITTED).
const std::string kCommitSeen = "\x03" "COMMIT";

constexpr Millis kLongest{2500};

/// Without what the machine itself held up.
Millis timed_takeover(const Fixture& fixture, Epoch epoch) {
  MysqlOffice office(fixture.plain(), utc_only());
  const rota::testing::StallMeter stalls;
  const MonoTime start = BootClock::now();
  const auto taken = office.enter_office(epoch, "next");
  const Micros took = stalls.fair_since(start);
  REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
  return floor_ms(took);
}

}  // namespace

TEST_CASE("takeover: a frozen leader's open transaction is ended after 1 s and writes nothing") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  auto slow = fixture.through(proxy.port());
  slow.idle_transaction = Millis{600'000};  // as on a server that knows no such timeout
  MysqlStore old_store(slow);
  proxy.at(kCommitSeen, CuttingProxy::Deed::Hold);
  ApplyResult old_result;
  std::thread old_leader([&] { old_result = old_store.apply(Epoch{1}, new_runs(100, 3)); });
  CHECK(proxy.wait_until_done());

  const Millis took = timed_takeover(fixture, Epoch{2});
  MESSAGE("figure: takeover_by_kill ms=", took.count());
  CHECK(took < kLongest);
  proxy.release();
  old_leader.join();
  CHECK(old_result.outcome == ApplyOutcome::Unknown);
  CHECK(old_store.apply(Epoch{1}, new_runs(100, 3)).outcome == ApplyOutcome::Fenced);
  CHECK(fixture.runs() == 0);
  CHECK(fixture.number("SELECT COUNT(*) FROM loop_connection WHERE epoch < 2") <= 1);
}

TEST_CASE("takeover: without its connection's row the idle transaction timeout frees the epoch") {
  const Fixture fixture;
  const auto old_leader = connect(fixture.plain());
  REQUIRE(old_leader->begin());
  REQUIRE(old_leader->stream("SELECT value FROM epoch WHERE partition_no = 1 LOCK IN SHARE MODE",
                             [](Row&) -> Result<void> { return {}; }));
  const Millis took = timed_takeover(fixture, Epoch{2});
  MESSAGE("figure: takeover_by_idle_timeout ms=", took.count());
  CHECK(took < kLongest + Millis{1000});
  CHECK_FALSE(old_leader->end_transaction());
}

TEST_CASE("takeover: without another holder it is immediate") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, new_runs(100, 3)).outcome == ApplyOutcome::Applied);
  const Millis took = timed_takeover(fixture, Epoch{2});
  MESSAGE("figure: takeover_idle ms=", took.count());
  CHECK(took < Millis{1000});
  CHECK(store.apply(Epoch{1}, new_runs(103, 3)).outcome == ApplyOutcome::Fenced);
}

TEST_CASE("takeover: two candidates with different epochs, whatever the order, end with the higher one") {
  const Fixture fixture;
  Result<void> two, three;
  std::thread other([&] { two = MysqlOffice(fixture.options, utc_only()).enter_office(Epoch{2}, "b"); });
  three = MysqlOffice(fixture.options, utc_only()).enter_office(Epoch{3}, "c");
  other.join();
  CHECK(three.has_value());
  CHECK((two.has_value() || two.error().code == ErrorCode::Conflict));
  CHECK(fixture.number("SELECT value FROM epoch") == 3);
}

TEST_CASE("takeover: a lost answer is unknown, and the marks tell") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlOffice office(fixture.through(proxy.port()), utc_only());
  proxy.at(kCommitSeen, CuttingProxy::Deed::CutAfter);
  const auto taken = office.enter_office(Epoch{2}, "me");
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == ErrorCode::UnknownOutcome);
  CHECK(office.read_marks()->epoch == Epoch{2});
}
