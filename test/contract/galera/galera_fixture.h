// A database with Rota's tables on the test program's Galera cluster, in which epoch 1 is in force.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/office_check.h"
#include "master/store/mysql/schema.h"
#include "test/contract/store/samples.h"
#include "test/support/galera/galera_cluster.h"

namespace rota::master::store::testing {

inline ZoneSource any_zone() {
  return [](std::string_view) -> Result<std::shared_ptr<const model::ZoneRules>> {
    return std::make_shared<const model::ZoneRules>();
  };
}

/// One tick's run, and the watermark behind it.
inline core::Changes one_run(std::int64_t id) {
  core::Changes changes;
  changes.new_runs.push_back(a_tick_run(id, 10, id));
  changes.watermark = core::Watermark{*changes.new_runs.back().tick};
  return changes;
}

/// One with all tables, as new. Each change of a table takes long on three nodes: so they are made once, and
/// then emptied.
inline std::string empty_database() {
  rota::testing::GaleraCluster& cluster = rota::testing::GaleraCluster::shared();
  static const std::string database = [&] {
    const std::string made = cluster.fresh_database();
    const auto upgraded = upgrade_schema(cluster.options(0, made));
    REQUIRE_MESSAGE(upgraded.has_value(), (upgraded ? "" : upgraded.error().message));
    return made;
  }();
  std::string text = "START TRANSACTION;";
  for (const NeededTable& table : needed_tables(schema_steps())) {
    if (table.name != "schema_step") text += "DELETE FROM " + table.name + ";";
  }
  const auto emptied = cluster.sql(0, text + "INSERT INTO epoch (partition_no, value) VALUES (1, 0);COMMIT", database);
  REQUIRE_MESSAGE(emptied.has_value(), (emptied ? "" : emptied.error().message));
  return database;
}

struct GaleraFixture {
  GaleraFixture() : cluster(rota::testing::GaleraCluster::shared()), database(empty_database()) {
    REQUIRE(MysqlOffice(through(0), any_zone()).enter_office(Epoch{1}, "first"));
  }
  MysqlOptions through(std::size_t node) const { return cluster.options(node, database); }
  std::string place(std::size_t node) const { return "127.0.0.1:" + std::to_string(cluster.port(node)); }
  /// What the node shows when it has all that was committed before, or why it does not.
  std::string ask(std::size_t node, const std::string& query) const {
    const auto answer = cluster.sql(node, "SET wsrep_sync_wait = 1; " + query, database);
    return answer ? *answer : answer.error().message;
  }
  std::int64_t number(std::size_t node, const std::string& query) const {
    const std::string answer = ask(node, query);
    REQUIRE_MESSAGE(answer.find_first_not_of("0123456789\n") == std::string::npos, answer);
    return std::stoll(answer);
  }

  rota::testing::GaleraCluster& cluster;
  const std::string database;
};

inline const std::string kCountRuns = "SELECT COUNT(*) FROM run";

}  // namespace rota::master::store::testing
