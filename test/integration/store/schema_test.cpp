// The schema steps on a real server.
#include "master/store/mysql/schema.h"

#include <doctest/doctest.h>

#include <thread>

#include "test/integration/store/fixture.h"
#include "test/support/mariadb/patient_options.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("schema: repeated, or with its records lost, it changes nothing") {
  const Fixture fixture;
  const auto newest = upgrade_schema(fixture.options);
  REQUIRE(newest);
  CHECK(*newest == schema_steps().back().number);
  CHECK(fixture.number("SELECT COUNT(*) FROM schema_step") ==
        static_cast<std::int64_t>(schema_steps().size()));
  REQUIRE(fixture.server.sql("DELETE FROM schema_step WHERE number > 3", fixture.options.database));
  REQUIRE(upgrade_schema(fixture.options));
  CHECK(fixture.number("SELECT value FROM epoch") == 1);
}

TEST_CASE("schema: one that this program does not know is refused") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("INSERT INTO schema_step VALUES (9999, 'future', 0)",
                             fixture.options.database));
  const auto refused = upgrade_schema(fixture.options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Unsupported);
  CHECK(refused.error().message.find("9999") != std::string::npos);
}

TEST_CASE("schema: two masters at once make one schema") {
  const MysqlOptions options = rota::testing::patient_options();
  const auto upgrade = [&] {  // as a master does: while another is at it for long, it tries again
    Result<int> newest = upgrade_schema(options);
    while (!newest && newest.error().code == ErrorCode::TimedOut) newest = upgrade_schema(options);
    return newest;
  };
  Result<int> other = 0;
  std::thread second([&] { other = upgrade(); });
  const auto mine = upgrade();
  second.join();
  REQUIRE_MESSAGE(mine.has_value(), (mine ? "" : mine.error().message));
  REQUIRE_MESSAGE(other.has_value(), (other ? "" : other.error().message));
  const auto taken = rota::testing::MariadbServer::shared().sql("SELECT COUNT(*) FROM schema_step", options.database);
  CHECK(std::stoul(*taken) == schema_steps().size());
}

TEST_CASE("schema: a lock held elsewhere is an answer, not a wait without end") {
  const Fixture fixture;
  const auto holder = connect(fixture.options);
  REQUIRE(holder->stream("SELECT GET_LOCK(LEFT(CONCAT('rota.schema.', DATABASE()), 64), 0)",
                         [](Row&) -> Result<void> { return {}; }));
  CHECK(upgrade_schema(fixture.options).error().code == ErrorCode::TimedOut);
}

TEST_CASE("schema: a step that added columns and whose record was lost is recorded, not refused") {
  const Fixture fixture;
  auto& server = rota::testing::MariadbServer::shared();
  REQUIRE(server.sql("DELETE FROM schema_step WHERE number >= 16", fixture.options.database));
  const auto newest = upgrade_schema(fixture.options);
  REQUIRE_MESSAGE(newest.has_value(), (newest ? "" : newest.error().message));
  const auto taken = server.sql("SELECT COUNT(*) FROM schema_step", fixture.options.database);
  CHECK(std::stoul(*taken) == schema_steps().size());
}
