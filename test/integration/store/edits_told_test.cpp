// Since when gap rows tell what edits of calendars took away: over takeovers, and past a master of before.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/schema.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

/// What the takeover of a master of the version before writes: nothing of edits_told_by.
void master_of_before_takes_office(const Fixture& fixture, int epoch) {
  const auto done = fixture.server.sql(
      fmt::format("UPDATE epoch SET value = {0}, dispatch_apart_for = {0}, contents_read_by = {0}, "
                  "late_rows_read_by = {0}, holder = 'old' WHERE partition_no = 1 AND value < {0}",
                  epoch),
      fixture.options.database);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
}

std::optional<WallTime> told_from(MysqlReader& reader) {
  const auto from = reader.edits_told_from();
  REQUIRE_MESSAGE(from.has_value(), (from ? "" : from.error().message));
  return *from;
}

}  // namespace

TEST_CASE("edits told: the promise begins with the first Term that keeps it, and anew after an older master") {
  const Fixture fixture;
  for (int i = 0; i < 2; ++i) REQUIRE(upgrade_schema(fixture.options));
  MysqlOffice office(fixture.options, utc_only());
  MysqlReader reader(fixture.options);
  master_of_before_takes_office(fixture, 2);
  CHECK(told_from(reader) == std::nullopt);  // of the version before nothing is demanded

  REQUIRE(office.enter_office(Epoch{3}, "new"));
  const auto first = told_from(reader);
  REQUIRE(first);
  REQUIRE(office.enter_office(Epoch{4}, "new"));
  CHECK(told_from(reader) == first);  // the Term before told them too

  master_of_before_takes_office(fixture, 5);
  CHECK(told_from(reader) == std::nullopt);
  REQUIRE(fixture.server.sql("UPDATE epoch SET edits_told_from_ms = edits_told_from_ms - 60000",
                             fixture.options.database));
  REQUIRE(office.enter_office(Epoch{6}, "new"));
  const auto again = told_from(reader);
  REQUIRE(again);
  CHECK(*again >= *first);
}
