// A transaction as one text: hostile values, an error in the middle, several texts, another epoch.
#include "master/store/mysql/batch_text.h"

#include <doctest/doctest.h>

#include <optional>

#include "master/store/mysql/literals.h"
#include "master/store/mysql/mysql_store.h"
#include "test/integration/store/fixture.h"
#include "test/support/cutting_proxy.h"
#include "test/support/patience.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using rota::testing::CuttingProxy;

namespace {

constexpr MultiRow kInsert{"INSERT INTO hostile (id, prose, bytes) VALUES", 3, ""};

std::unique_ptr<Connection> with_table(const Fixture& fixture) {
  auto opened = Connection::open(fixture.options, Texts::Many);
  REQUIRE(opened);
  REQUIRE((*opened)->run_text("CREATE TABLE hostile (id BIGINT NOT NULL PRIMARY KEY, prose MEDIUMTEXT "
                              "CHARACTER SET utf8mb4 NULL, bytes MEDIUMBLOB NULL) ENGINE=InnoDB"));
  return std::move(*opened);
}

RowSource ids_from(std::int64_t first, std::size_t count) {
  return {count, [first](Binder& binder, std::size_t i) {
            binder.integer(first + static_cast<std::int64_t>(i)).text("plain").null();
          }};
}

std::string every_byte(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(bytes.size() % 256);
  return bytes;
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {
      "", "'", "\\", "\\'", "'; DROP TABLE hostile; -- ", "/*", "--", "?", ";", "x'00'", "NULL", "\"`",
      std::string("a\0b", 3), "\r\n\t\x1a", "\xF0\x9F\x98\x80'", "\xC3\xA9\\", std::string(65'536, '\''),
      std::string(65'536, 'a') + "\\", "%_"};
  return texts;
}

}  // namespace

TEST_CASE("batch text: hostile texts and bytes come back as they went in") {
  const Fixture fixture;
  const auto connection = with_table(fixture);
  const auto& texts = hostile_texts();
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add_rows(kInsert, {texts.size(), [&](Binder& binder, std::size_t i) {
                             binder.integer(static_cast<std::int64_t>(i)).text(texts[i]).text(every_byte(i * 999));
                           }});
  REQUIRE(batch.finish());
  REQUIRE(connection->end_transaction());
  std::size_t at = 0;
  REQUIRE(connection->query("SELECT id, prose, bytes FROM hostile ORDER BY id", {}, [&](Row& row) -> Result<void> {
    CHECK(row.integer() == static_cast<std::int64_t>(at));
    CHECK(row.text() == texts[at]);
    CHECK(row.text() == every_byte(at * 999));
    ++at;
    return {};
  }));
  CHECK(at == texts.size());
}

TEST_CASE("batch text: bytes that are no UTF-8 are refused by a text column, as with prepared statements") {
  const Fixture fixture;
  auto connection = with_table(fixture);
  const auto bind = [](Binder& binder) { binder.integer(1).text("a\xFF").null(); };
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add(with_literals("INSERT INTO hostile (id, prose, bytes) VALUES (?, ?, ?)", bind));
  const auto by_text = batch.finish();
  connection = connect(fixture.options);
  const auto prepared = connection->change("INSERT INTO hostile (id, prose, bytes) VALUES (?, ?, ?)", bind);
  REQUIRE_FALSE(by_text);
  REQUIRE_FALSE(prepared);
  CHECK(by_text.error().code == prepared.error().code);
  CHECK(fixture.number("SELECT COUNT(*) FROM hostile") == 0);
}

TEST_CASE("batch text: what was gathered before, several texts long, is written behind what a batch holds") {
  const Fixture fixture;
  const auto connection = with_table(fixture);
  std::vector<std::int64_t> counted;
  const auto note = [&](std::int64_t rows) -> Result<void> {
    counted.push_back(rows);
    return {};
  };
  BatchText gathered;
  gathered.add_rows(kInsert, ids_from(2, 50'000), note);  // more than 1 MiB
  gathered.add_rows(kInsert, ids_from(60'000, 7), note);
  std::int64_t seen = 0;
  gathered.ask("SELECT COUNT(*) FROM hostile", [&](Row& row) -> Result<void> {
    seen = row.integer();
    return {};
  });
  gathered.check([&]() -> Result<void> {
    return fixture.number("SELECT COUNT(*) FROM hostile") == 0 && gathered.connection().usable()
               ? Result<void>() : fail(ErrorCode::Internal, "not in the transaction");
  });
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add_rows(kInsert, ids_from(1, 1), note);
  batch.append(gathered);
  REQUIRE(batch.finish());
  CHECK(counted == std::vector<std::int64_t>{1, 50'000, 7});
  CHECK(seen == 50'008);
  REQUIRE(connection->end_transaction());
  CHECK(fixture.number("SELECT COUNT(*) FROM hostile") == 50'008);
}

TEST_CASE("batch text: an error in the middle is named, ends the connection and leaves nothing") {
  const Fixture fixture;
  auto connection = with_table(fixture);
  int checks = 0;
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add_rows(kInsert, ids_from(1, 5), [&](std::int64_t) -> Result<void> {
    ++checks;
    return {};
  });
  batch.add_rows(kInsert, ids_from(5, 1));  // 5 is there
  batch.add_rows(kInsert, ids_from(6, 5));
  const auto written = batch.finish();
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::AlreadyExists);
  CHECK(written.error().message.find("INSERT INTO hostile (id, prose, bytes) VALUES (5,") != std::string::npos);
  CHECK(checks == 0);
  CHECK_FALSE(connection->usable());
  CHECK_FALSE(connection->end_transaction());
  connection.reset();
  CHECK(fixture.number("SELECT COUNT(*) FROM hostile") == 0);
}

TEST_CASE("batch text: what is too long for one text travels in several, in one transaction") {
  const Fixture fixture;
  const auto connection = with_table(fixture);
  std::int64_t counted = 0;
  int answers = 0;
  connection->tell_progress([&] { ++answers; });
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add_rows(kInsert,
                 {1'300, [](Binder& binder, std::size_t i) {
                    binder.integer(static_cast<std::int64_t>(i)).null().text(every_byte(4'000));
                  }},
                 [&](std::int64_t sum) -> Result<void> {
                   counted = sum;
                   return {};
                 });
  REQUIRE(batch.finish());
  CHECK(counted == 1'300);
  CHECK(answers > 20);  // 10 MB in texts of 1 MiB: a heartbeat needs no patience for all of it
  CHECK(fixture.number("SELECT COUNT(*) FROM hostile") == 0);
  REQUIRE(connection->end_transaction());
  CHECK(fixture.number("SELECT COUNT(*) FROM hostile") == 1'300);
}

TEST_CASE("batch text: after an error in one text the next ones are not sent") {
  const Fixture fixture;
  const auto connection = with_table(fixture);
  const RowSource long_rows = {600, [](Binder& binder, std::size_t i) {
                                 binder.integer(static_cast<std::int64_t>(i)).null().text(every_byte(4'000));
                               }};
  bool is_checked = false;
  BatchText batch(*connection);
  batch.add("START TRANSACTION");
  batch.add_rows(kInsert, ids_from(3, 1));
  batch.add_rows(kInsert, long_rows);
  batch.check([&]() -> Result<void> {
    is_checked = true;
    return {};
  });
  CHECK_FALSE(batch.finish());
  CHECK_FALSE(batch.finish());
  CHECK_FALSE(is_checked);
}

TEST_CASE("batch text: a query that gives no row set is an error, and so is a visit's") {
  const Fixture fixture;
  for (const std::string query : {"DO 1", "SELECT 1"}) {
    auto opened = Connection::open(fixture.options, Texts::Many);
    REQUIRE(opened);
    BatchText batch(**opened);
    batch.ask(query, [](Row&) -> Result<void> { return fail(ErrorCode::Conflict, "not this row"); });
    batch.add("DO 2");
    const auto done = batch.finish();
    REQUIRE_FALSE(done);
    CHECK(done.error().code == (query == "DO 1" ? ErrorCode::Internal : ErrorCode::Conflict));
    CHECK_FALSE((*opened)->usable());
  }
}

TEST_CASE("batch text: other connections take no text of several statements") {
  const Fixture fixture;
  const auto connection = connect(fixture.options);
  CHECK_FALSE(connection->run_text("DO 1; DO 2"));
}

TEST_CASE("apply: the database does not even begin with the rows of a stale batch") {
  const Fixture fixture;
  MysqlStore stale(fixture.options);
  REQUIRE(stale.apply(Epoch{1}, new_runs(1, 1)).outcome == ApplyOutcome::Applied);
  const auto id = fixture.number("SELECT connection_id FROM loop_connection WHERE epoch = 1");
  REQUIRE(MysqlOffice(fixture.options, utc_only()).enter_office(Epoch{2}, "next"));
  const auto inserts = [&] {
    return fixture.number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
                          "WHERE VARIABLE_NAME = 'Com_insert'");
  };
  const auto before = inserts();
  const auto result = stale.apply(Epoch{1}, new_runs(100, 2'000));
  CHECK(result.outcome == ApplyOutcome::Fenced);
  CHECK(result.found == Epoch{2});
  const std::string living =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + std::to_string(id);
  const MonoTime until = BootClock::now() + rota::testing::kPatience;
  while (fixture.number(living) > 0 && BootClock::now() < until) continue;
  CHECK(inserts() == before);
  CHECK(fixture.runs() == 1);
}

TEST_CASE("apply: without the row of the epoch nothing is stored") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  REQUIRE(fixture.server.sql("DELETE FROM epoch", fixture.options.database));
  const auto result = store.apply(Epoch{1}, new_runs(100, 3));
  CHECK(result.outcome == ApplyOutcome::Failed);
  CHECK_FALSE(result.permanent);
  CHECK(result.detail.find("table epoch has no row") != std::string::npos);
  CHECK(fixture.runs() == 0);
}

TEST_CASE("apply: a text whose answers are lost is Failed, and the rerun applies once") {
  const Fixture fixture;
  CuttingProxy proxy(fixture.server.port());
  MysqlStore store(fixture.through(proxy.port()));
  const auto batch = new_runs(100, 3);
  proxy.at("START TRANSACTION", CuttingProxy::Deed::CutAfter);
  const auto result = store.apply(Epoch{1}, batch);
  CHECK(result.outcome == ApplyOutcome::Failed);
  CHECK_FALSE(result.permanent);
  CHECK(proxy.wait_until_done());
  CHECK(fixture.runs() == 0);
  CHECK(store.apply(Epoch{1}, batch).outcome == ApplyOutcome::Applied);
  CHECK(fixture.runs() == 3);
}
