// Freezes and runs that wait to be caught up: who may take office once they may be stored.
#include "master/store/mysql/late_rows.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/schema.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

/// What the takeover of a master of the version before writes. Empty, or why it cannot.
std::string older_takes_office(const Fixture& fixture, int epoch) {
  const auto done = fixture.server.sql(
      fmt::format("UPDATE epoch SET value = {0}, dispatch_apart_for = {0}, contents_read_by = {0}, holder = 'old' "
                  "WHERE partition_no = 1 AND value < {0}",
                  epoch),
      fixture.options.database);
  return done ? "" : done.error().message;
}

bool are_known(MysqlOffice& office) {
  const auto all = office.recover();
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  return all->late_rows_known;
}

}  // namespace

TEST_CASE("late rows: masters that cannot read them lead until they may be stored, and then no more") {
  const Fixture fixture;
  for (int i = 0; i < 2; ++i) REQUIRE(upgrade_schema(fixture.options));
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{3}, "new"));
  REQUIRE(office.need_contents(Epoch{3}));
  CHECK_FALSE(are_known(office));
  CHECK(older_takes_office(fixture, 4) == "");

  const auto over = office.need_late_rows(Epoch{3});  // of a leader that is over
  REQUIRE_FALSE(over.has_value());
  CHECK(over.error().code == ErrorCode::Fenced);
  CHECK(older_takes_office(fixture, 5) == "");

  REQUIRE(office.enter_office(Epoch{6}, "new"));
  CHECK_FALSE(are_known(office));
  for (int i = 0; i < 2; ++i) REQUIRE(office.need_late_rows(Epoch{6}));
  CHECK(are_known(office));
  const std::string why = older_takes_office(fixture, 7);
  CHECK_MESSAGE(why.find("needs_a_newer_rota_master_for_late_rows") != std::string::npos, why);
  REQUIRE(office.enter_office(Epoch{8}, "new"));
  CHECK(are_known(office));
}

TEST_CASE("child runs: masters that would begin none lead until jobs may name some, and then no more") {
  const Fixture fixture;
  REQUIRE(upgrade_schema(fixture.options));
  MysqlOffice office(fixture.options, utc_only());
  const auto are_children_known = [&office] {
    const auto all = office.recover();
    REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
    return all->child_runs_known;
  };
  REQUIRE(office.enter_office(Epoch{3}, "new"));
  CHECK_FALSE(are_children_known());
  CHECK(older_takes_office(fixture, 4) == "");
  CHECK(office.need_child_runs(Epoch{3}).error().code == ErrorCode::Fenced);
  CHECK(older_takes_office(fixture, 5) == "");
  REQUIRE(office.enter_office(Epoch{6}, "new"));
  for (int i = 0; i < 2; ++i) REQUIRE(office.need_child_runs(Epoch{6}));
  CHECK(are_children_known());
  const std::string why = older_takes_office(fixture, 7);
  CHECK_MESSAGE(why.find("needs_a_newer_rota_master_for_child_runs") != std::string::npos, why);
  REQUIRE(office.enter_office(Epoch{8}, "new"));
  CHECK(are_children_known());
}

TEST_CASE("worker starts: masters that cannot read their runs lead until jobs may have them, and then no more") {
  const Fixture fixture;
  REQUIRE(upgrade_schema(fixture.options));
  MysqlOffice office(fixture.options, utc_only());
  const auto are_starts_known = [&office] {
    const auto all = office.recover();
    REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
    return all->worker_starts_known;
  };
  REQUIRE(office.enter_office(Epoch{3}, "new"));
  CHECK_FALSE(are_starts_known());
  CHECK(older_takes_office(fixture, 4) == "");
  CHECK(office.need_worker_starts(Epoch{3}).error().code == ErrorCode::Fenced);
  CHECK(older_takes_office(fixture, 5) == "");
  REQUIRE(office.enter_office(Epoch{6}, "new"));
  for (int i = 0; i < 2; ++i) REQUIRE(office.need_worker_starts(Epoch{6}));
  CHECK(are_starts_known());
  const std::string why = older_takes_office(fixture, 7);
  CHECK_MESSAGE(why.find("needs_a_newer_rota_master_for_worker_starts") != std::string::npos, why);
  REQUIRE(office.enter_office(Epoch{8}, "new"));
  CHECK(are_starts_known());
}
