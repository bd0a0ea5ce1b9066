// Whether a master could lead, asked before it stands for election; and what it is told when not.
#include "master/store/mysql/office_check.h"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "master/store/mysql/mysql_store.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

bool names(const Error& error, const std::string& text) {
  const bool has = error.message.find(text) != std::string::npos;
  if (!has) MESSAGE("it says: ", error.message);
  return has;
}

Error refusal(const MysqlOptions& options) {
  const auto checked = check_office(options);
  REQUIRE_FALSE(checked);
  return checked.error();
}

/// What stands behind that word of a message: the statement that helps.
std::string statement_in(const Error& error, const std::string& first_word) {
  const std::size_t begin = error.message.rfind(first_word);
  REQUIRE(begin != std::string::npos);
  return error.message.substr(begin);
}

}  // namespace

TEST_CASE("office check: it knows every column that the schema steps make") {
  const Fixture fixture;
  std::set<std::string> needed, standing;
  for (const NeededTable& table : needed_tables(schema_steps())) {
    for (const NeededColumn& column : table.columns) needed.insert(table.name + "." + column.name);
  }
  auto connection = connect(fixture.options);
  REQUIRE(connection->stream("SELECT CONCAT(table_name, '.', column_name) FROM information_schema.columns "
                             "WHERE table_schema = DATABASE()",
                             [&](Row& row) -> Result<void> {
                               standing.insert(row.text());
                               return {};
                             }));
  CHECK(needed == standing);
  CHECK(check_office(fixture.options));
}

TEST_CASE("office check: a dropped column is named with the statement that puts it back") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("ALTER TABLE run DROP COLUMN detail", fixture.options.database));
  const Error error = refusal(fixture.options);
  CHECK(error.code == ErrorCode::Corrupt);
  CHECK(names(error, "column run.detail is missing"));
  REQUIRE(fixture.server.sql(statement_in(error, "ALTER TABLE"), fixture.options.database));
  CHECK(check_office(fixture.options));
  SUBCASE("one that a later step added too") {
    REQUIRE(fixture.server.sql("ALTER TABLE run DROP COLUMN written_bytes", fixture.options.database));
    const Error other = refusal(fixture.options);
    CHECK(statement_in(other, "ALTER TABLE") == "ALTER TABLE run ADD COLUMN written_bytes BIGINT NULL");
  }
}

TEST_CASE("office check: a dropped table is named, and can be created again") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("DROP TABLE gap", fixture.options.database));
  const Error error = refusal(fixture.options);
  CHECK(names(error, "table gap is missing"));
  REQUIRE(fixture.server.sql(statement_in(error, "DELETE FROM"), fixture.options.database));
  REQUIRE(upgrade_schema(fixture.options));
  CHECK(check_office(fixture.options));
}

TEST_CASE("office check: for a read-only account, it names the missing right and the GRANT") {
  const Fixture fixture;
  const std::string& database = fixture.options.database;
  for (const char* rights : {"SELECT", "SELECT, UPDATE", "SELECT, UPDATE, INSERT"}) {
    CAPTURE(rights);
    REQUIRE(fixture.server.sql("CREATE OR REPLACE USER poor@'127.0.0.1'; GRANT " + std::string(rights) + " ON " +
                               database + ".* TO poor@'127.0.0.1'"));
    MysqlOptions poor = fixture.options;
    poor.user = "poor";
    const Error error = refusal(poor);
    CHECK(error.code == ErrorCode::Denied);
    CHECK(names(error, "command denied"));
    CHECK(names(error, "GRANT ALL ON `" + database + "`.* TO 'poor'@'127.0.0.1'"));
    REQUIRE(fixture.server.sql(statement_in(error, "GRANT ALL")));
    CHECK(check_office(poor));
  }
  REQUIRE(fixture.server.sql("DROP USER poor@'127.0.0.1'"));
}

TEST_CASE("office check: a read-only server is reported as such") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("SET GLOBAL read_only = 1"));
  const auto checked = check_office(fixture.options);
  REQUIRE(fixture.server.sql("SET GLOBAL read_only = 0"));
  REQUIRE_FALSE(checked);
  CHECK(names(checked.error(), "the server is read-only; set database.host to the primary"));
}

TEST_CASE("office check: a table that is being changed is no reason not to stand") {
  const Fixture fixture;
  const auto holder = connect(fixture.options);
  REQUIRE(holder->run_text("LOCK TABLES run WRITE"));
  CHECK(check_office(fixture.options));
}

TEST_CASE("office: a missing epoch row is named, and never read as epoch 0 at the time 0") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, new_runs(100, 1)).outcome == ApplyOutcome::Applied);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.probe());
  REQUIRE(fixture.server.sql("DELETE FROM epoch", fixture.options.database));

  const auto marks = office.read_marks();
  REQUIRE_FALSE(marks);
  CHECK(marks.error().code == ErrorCode::Corrupt);
  CHECK(names(marks.error(), "table epoch has no row with partition_no 1"));
  CHECK(office.probe().error().code == ErrorCode::Corrupt);
  CHECK_FALSE(office.settle_uuid("other"));
  const auto batch = store.apply(Epoch{1}, new_runs(200, 1));
  CHECK(batch.outcome == ApplyOutcome::Failed);
  CHECK_FALSE(batch.permanent);
  CHECK(batch.detail == marks.error().message);
  MysqlStore another(fixture.options);
  CHECK(another.apply(Epoch{1}, {}).outcome == ApplyOutcome::Failed);

  REQUIRE(fixture.server.sql(statement_in(marks.error(), "INSERT INTO epoch"), fixture.options.database));
  CHECK(office.read_marks()->epoch == Epoch{1});
  CHECK(store.apply(Epoch{1}, new_runs(200, 1)).outcome == ApplyOutcome::Applied);
}

TEST_CASE("office: an unknown column in a statement is reported with the remedy") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("ALTER TABLE run DROP COLUMN attempt", fixture.options.database));
  MysqlStore store(fixture.options);
  const auto batch = store.apply(Epoch{1}, new_runs(100, 1));
  CHECK(batch.outcome == ApplyOutcome::Failed);
  CHECK(batch.detail.find("Unknown column") != std::string::npos);
  CHECK(batch.detail.find("restore what was dropped") != std::string::npos);
}
