#include "test/contract/store/backends.h"

#include <doctest/doctest.h>

#include "master/store/memory_store.h"
#include "master/store/mysql_log_store.h"
#include "master/store/mysql_office.h"
#include "master/store/mysql_reader.h"
#include "master/store/mysql_store.h"
#include "master/store/schema.h"
#include "test/support/mariadb_server.h"

namespace rota::master::store::testing {
namespace {

Result<std::shared_ptr<const model::ZoneRules>> small_world(std::string_view name) {
  if (name != "UTC") return fail(ErrorCode::InvalidArgument, "no zone " + std::string(name));
  return std::make_shared<const model::ZoneRules>();
}

Backend in_memory() {
  const auto store = std::make_shared<MemoryStore>(small_world);
  return {"memory", store, store, store, store};
}

Backend on_mysql() {
  auto& server = rota::testing::MariadbServer::shared();
  MysqlOptions options;
  options.port = server.port();
  options.user = server.user();
  options.database = server.fresh_database();
  const auto upgraded = upgrade_schema(options);
  REQUIRE_MESSAGE(upgraded.has_value(), (upgraded ? "" : upgraded.error().message));
  return {"mysql", std::make_shared<MysqlStore>(options),
          std::make_shared<MysqlOffice>(options, small_world), std::make_shared<MysqlReader>(options),
          std::make_shared<MysqlLogStore>(options)};
}

}  // namespace

std::vector<Backend> fresh_backends() { return {in_memory(), on_mysql()}; }

std::vector<Backend> led_backends() {
  auto backends = fresh_backends();
  for (const auto& backend : backends) {
    const auto taken = backend.office->take_office(Epoch{1}, "test");
    REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
  }
  return backends;
}

}  // namespace rota::master::store::testing
