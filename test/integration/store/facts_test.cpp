// What the connection layer makes of the server's and the library's habits.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <thread>

#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

std::string one_text(Connection& connection, const std::string& query) {
  std::string text;
  const auto asked = connection.query(query, {}, [&](Row& row) -> Result<void> {
    text = row.text();
    return {};
  });
  REQUIRE_MESSAGE(asked.has_value(), (asked ? "" : asked.error().message));
  return text;
}

Result<std::int64_t> set_holder(Connection& connection, const std::string& holder) {
  return connection.change("UPDATE epoch SET holder = ? WHERE partition_no = 1",
                           [&](Binder& binder) { binder.text(holder); });
}

}  // namespace

TEST_CASE("connection: the session is strict, in UTC, in utf8mb4, and bounded in its waits") {
  const Fixture fixture;
  const auto connection = connect(fixture.plain());
  CHECK(one_text(*connection, "SELECT @@sql_mode").find("STRICT_ALL_TABLES") != std::string::npos);
  CHECK(one_text(*connection, "SELECT @@time_zone") == "+00:00");
  CHECK(one_text(*connection, "SELECT @@character_set_client") == "utf8mb4");
  CHECK(one_text(*connection, "SELECT @@collation_connection") == "utf8mb4_bin");
  CHECK(one_text(*connection, "SELECT @@autocommit") == "1");
  CHECK(one_text(*connection, "SELECT @@tx_isolation") == "READ-COMMITTED");
  CHECK(one_text(*connection, "SELECT @@innodb_lock_wait_timeout") == "3");
  CHECK(connection->is_mariadb());
  CHECK(one_text(*connection, "SELECT @@idle_transaction_timeout") == "2");
  CHECK(connection->id() > 0);
}

TEST_CASE("connection: over the server's socket too") {
  const Fixture fixture;
  auto options = fixture.options;
  options.socket = fixture.server.socket();
  options.port = 1;
  CHECK(one_text(*connect(options), "SELECT 'here'") == "here");
}

TEST_CASE("connection: a value that does not fit is refused, never cut") {
  const Fixture fixture;
  const auto connection = connect(fixture.options);
  const auto put = set_holder(*connection, std::string(256, 'x'));
  REQUIRE_FALSE(put);
  CHECK(put.error().code == ErrorCode::InvalidArgument);
  CHECK_FALSE(connection->usable());
}

TEST_CASE("connection: COMMIT on a killed connection is an error, and its work is gone") {
  const Fixture fixture;
  const auto connection = connect(fixture.options);
  REQUIRE(connection->begin());
  REQUIRE(set_holder(*connection, "lost"));
  REQUIRE(fixture.server.sql(fmt::format("KILL {}", connection->id())));
  const auto ended = connection->end_transaction();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == ErrorCode::UnknownOutcome);
  CHECK_FALSE(connection->usable());
  CHECK(fixture.number("SELECT COUNT(*) FROM epoch WHERE holder = 'lost'") == 0);
}

TEST_CASE("connection: a killed connection fails its next statement as surely not done, and stays dead") {
  const Fixture fixture;
  const auto connection = connect(fixture.options);
  REQUIRE(connection->begin());
  REQUIRE(set_holder(*connection, "lost"));
  REQUIRE(fixture.server.sql(fmt::format("KILL {}", connection->id())));
  const auto next = set_holder(*connection, "second half");
  REQUIRE_FALSE(next);
  CHECK(next.error().code == ErrorCode::Unavailable);
  CHECK(connection->run_text("DO 1").error().code == ErrorCode::Unavailable);
  CHECK(connection->end_transaction().error().code == ErrorCode::Unavailable);  // COMMIT was not sent
  CHECK(fixture.number("SELECT COUNT(*) FROM epoch WHERE holder <> 'first'") == 0);
}

TEST_CASE("connection: after a lock wait nothing more runs in the half-undone transaction") {
  const Fixture fixture;
  auto quick = fixture.options;
  quick.lock_wait = Millis{1000};
  const auto holder = connect(fixture.options);
  REQUIRE(holder->begin());
  REQUIRE(set_holder(*holder, "holder"));
  const auto waiter = connect(quick);
  REQUIRE(waiter->begin());
  REQUIRE(waiter->change("INSERT INTO watermark (partition_no, value_ms) VALUES (?, 7)",
                         [](Binder& binder) { binder.integer(1); }));
  const auto blocked = set_holder(*waiter, "waiter");
  REQUIRE_FALSE(blocked);
  CHECK(waiter->last_sql_error() == 1205);
  CHECK(blocked.error().code == ErrorCode::Unavailable);
  CHECK_FALSE(waiter->end_transaction());
  REQUIRE(holder->undo());
  CHECK(fixture.number("SELECT COUNT(*) FROM watermark") == 0);
}

TEST_CASE("connection: after a deadlock no statement slips into a transaction of its own") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("INSERT INTO watermark (partition_no, value_ms) VALUES (1, 1), (2, 2)", fixture.options.database));
  const auto raise = [](Connection& on, int row) {
    return on.change("UPDATE watermark SET value_ms = 99 WHERE partition_no = ?",
                     [&](Binder& binder) { binder.integer(row); });
  };
  const auto one = connect(fixture.options);
  const auto two = connect(fixture.options);
  REQUIRE(one->begin());
  REQUIRE(two->begin());
  REQUIRE(raise(*one, 1));
  REQUIRE(raise(*two, 2));
  Result<std::int64_t> crossed = 0;
  std::thread other([&] { crossed = raise(*one, 2); });
  const auto mine = raise(*two, 1);
  other.join();
  REQUIRE(crossed.has_value() != mine.has_value());  // the server chose one victim
  Connection& victim = mine ? *one : *two;
  CHECK(victim.last_sql_error() == 1213);
  CHECK_FALSE(raise(victim, 1));
  CHECK_FALSE(victim.end_transaction());
  REQUIRE((mine ? *two : *one).undo());
  CHECK(fixture.number("SELECT COUNT(*) FROM watermark WHERE value_ms = 99") == 0);
}

TEST_CASE("connection: the server ends a transaction that idles") {
  const Fixture fixture;
  auto quick = fixture.options;
  quick.idle_transaction = Millis{1000};
  const auto idle = connect(quick);
  REQUIRE(idle->begin());
  REQUIRE(set_holder(*idle, "idle"));
  const auto other = connect(fixture.options);
  const MonoTime start = BootClock::now();
  REQUIRE(set_holder(*other, "other"));
  MESSAGE("figure: idle_transaction freed_ms=", floor_ms(BootClock::now() - start).count());
  CHECK_FALSE(idle->end_transaction());
}

TEST_CASE("connection: names a wrong account, a wrong database and a missing server") {
  const Fixture fixture;
  auto options = fixture.options;
  options.user = "nobody";
  CHECK(Connection::open(options).error().code == ErrorCode::Denied);
  options = fixture.options;
  options.database = "rota_absent";
  CHECK(Connection::open(options).error().code == ErrorCode::NotFound);
  options.port = 1;
  const auto refused = Connection::open(options);
  CHECK(refused.error().code == ErrorCode::Unavailable);
  CHECK(refused.error().message.find("127.0.0.1:1") != std::string::npos);
}
