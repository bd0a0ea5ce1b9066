// The implementations for the store's contract: one, each of whose faces reaches another node of the cluster.
#include <doctest/doctest.h>

#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/mysql_history.h"
#include "master/store/mysql/mysql_nodes.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_retention.h"
#include "master/store/mysql/mysql_store.h"
#include "test/contract/galera/galera_fixture.h"
#include "test/contract/store/backends.h"

namespace rota::master::store::testing {
namespace {

using rota::testing::GaleraCluster;

Result<std::shared_ptr<const model::ZoneRules>> small_world(std::string_view name) {
  if (name != "UTC") return fail(ErrorCode::InvalidArgument, "no zone " + std::string(name));
  return std::make_shared<const model::ZoneRules>();
}

MysqlOptions through(std::size_t node, const std::string& database) {
  return GaleraCluster::shared().options(node, database);
}

Backend on_galera() {
  const std::string database = empty_database();
  return {"galera", std::make_shared<MysqlStore>(through(0, database)),
          std::make_shared<MysqlOffice>(through(1, database), small_world),
          std::make_shared<MysqlReader>(through(2, database)),
          std::make_shared<MysqlLogStore>(through(1, database)),
          std::make_shared<MysqlRetention>(through(2, database)),
          std::make_shared<MysqlHistory>(through(1, database)),
          std::make_shared<MysqlNodes>(through(2, database))};
}

}  // namespace

std::vector<LogBackend> fresh_log_backends() {
  const std::string database = empty_database();
  return {{"galera", std::make_shared<MysqlLogStore>(through(0, database)),
           std::make_shared<MysqlLogStore>(through(1, database))}};
}

std::vector<Backend> fresh_backends() {
  std::vector<Backend> backends;
  backends.push_back(on_galera());
  return backends;
}

std::vector<Backend> led_backends() {
  auto backends = fresh_backends();
  const auto& office = backends.front().office;
  const auto taken = office->enter_office(Epoch{1}, "test");
  REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
  REQUIRE(office->recover());
  for (int i = 0; i < 10; ++i) REQUIRE(office->beat(Epoch{1}));
  return backends;
}

}  // namespace rota::master::store::testing
