// The options with which tests reach their database.
#pragma once

#include "master/store/mysql/mysql_options.h"
#include "test/support/mariadb_server.h"

namespace rota::testing {

/// A new database on the test program's server; its waits survive a machine that stands still for a while.
inline master::store::MysqlOptions patient_options() {
  MariadbServer& server = MariadbServer::shared();
  master::store::MysqlOptions options;
  options.port = server.port();
  options.user = server.user();
  options.database = server.fresh_database();
  options.connect_timeout = options.write_timeout = Millis{30'000};
  options.lock_wait = Millis{50'000};
  options.read_timeout = options.idle_transaction = Millis{60'000};
  return options;
}

}  // namespace rota::testing
