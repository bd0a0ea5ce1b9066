// The reader's pool under trouble.
#include <doctest/doctest.h>

#include <latch>
#include <thread>

#include "master/store/mysql/connection_pool.h"
#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/logs/log_rules.h"
#include "test/integration/store/fixture.h"
#include "test/support/stall_meter.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("pool: waits for a free connection until its deadline") {
  const Fixture fixture;
  ConnectionPool pool(fixture.options, {1, Millis{100}, Millis{250}});
  std::latch inside(1), leave(1);
  std::thread holder([&] {
    CHECK(pool.with([&](Connection&) -> Result<void> {
      inside.count_down();
      leave.wait();
      return {};
    }));
  });
  inside.wait();
  const auto late = pool.with([](Connection&) -> Result<void> { return {}; });
  CHECK(late.error().code == ErrorCode::TimedOut);
  leave.count_down();
  holder.join();
  CHECK(pool.with([](Connection& connection) -> Result<void> {
    CHECK(connection.usable());
    return {};
  }));
}

TEST_CASE("pool: a connection killed while kept is replaced without the caller's notice") {
  const Fixture fixture;
  ConnectionPool pool(fixture.options, {});
  std::int64_t id = 0;
  const auto ask = [&](Connection& connection) {
    id = connection.id();
    return connection.stream("SELECT 1", [](Row&) -> Result<void> { return {}; });
  };
  REQUIRE(pool.with(ask));
  const auto first = id;
  REQUIRE(fixture.server.sql("KILL " + std::to_string(first)));
  CHECK(pool.with(ask));
  CHECK(id != first);
}

TEST_CASE("pool: a transaction that work leaves open is undone, never handed on") {
  const Fixture fixture;
  ConnectionPool pool(fixture.options, {1, Millis{100}, Millis{250}});
  const auto left_open = pool.with([](Connection& connection) -> Result<void> {
    if (auto begun = connection.begin(); !begun) return begun;
    auto put = connection.run_text("INSERT INTO watermark (partition_no, value_ms) VALUES (1, 5)");
    CHECK(put);
    return fail(ErrorCode::Corrupt, "in the middle");
  });
  CHECK(left_open.error().code == ErrorCode::Corrupt);
  CHECK(pool.with([](Connection& connection) -> Result<void> {
    CHECK_FALSE(connection.in_transaction());
    return {};
  }));
  CHECK(fixture.number("SELECT COUNT(*) FROM watermark") == 0);
}

TEST_CASE("pool: while the server is away callers learn why, at once after the first") {
  const Fixture fixture;
  MysqlReader reader(fixture.options, {2, Millis{500}, Millis{60'000}});
  REQUIRE(reader.watermark());
  fixture.server.kill_hard();
  CHECK(reader.watermark().error().code == ErrorCode::Unavailable);
  const rota::testing::StallMeter stalls;
  const MonoTime start = BootClock::now();
  const auto again = reader.watermark();
  CHECK(stalls.fair_since(start) < Millis{100});
  CHECK(again.error().code == ErrorCode::Unavailable);
  CHECK(again.error().message.find("connect") != std::string::npos);
  REQUIRE(fixture.server.restart());
  MysqlReader fresh(fixture.options);
  CHECK(fresh.watermark());
}

TEST_CASE("logs: two masters may append to one stream, and each knows where it ends") {
  const Fixture fixture;
  MysqlLogStore one(fixture.options), two(fixture.options);
  const auto chunk = [](std::int64_t offset, const std::string& bytes) {
    LogChunk made;
    made.attempt = {RunId{7}, 1};
    made.offset = offset;
    made.bytes = bytes;
    made.crc32 = crc_of(bytes);
    return std::vector<LogChunk>{made};
  };
  CHECK(one.append(chunk(0, "aa"))->at(0) == 2);
  CHECK(two.append(chunk(4, "cc"))->at(0) == 2);
  CHECK(two.append(chunk(2, "bb"))->at(0) == 6);
  CHECK(one.append(chunk(6, "dd"))->at(0) == 8);
  CHECK(two.read({RunId{7}, 1}, LogStream::Out, 0, 100)->bytes == "aabbccdd");
}
