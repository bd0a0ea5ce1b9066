// A fresh database on the test program's server, with its tables, and small questions about it.
#pragma once

#include <memory>
#include <string>

#include "master/core/effect.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_options.h"
#include "master/store/store.h"
#include "test/support/mariadb_server.h"

namespace rota::master::store::testing {

/// Every zone is UTC.
ZoneSource utc_only();

struct Fixture {
  Fixture();  ///< with the tables, and epoch 1 in force
  MysqlOptions through(std::uint16_t port) const;
  /// With the waits that a master has, for cases that look at them.
  MysqlOptions plain() const;
  /// The answer of a query that gives one number, asked by root.
  std::int64_t number(const std::string& query) const;
  std::int64_t runs() const { return number("SELECT COUNT(*) FROM run"); }

  rota::testing::MariadbServer& server;
  MysqlOptions options;
};

/// Job 10 and `count` runs of its ticks, with ids from `first` on.
core::Changes new_runs(std::int64_t first, int count);
core::Changes final_updates(const core::Changes& born);

/// An open connection, or the end of the test.
std::unique_ptr<Connection> connect(const MysqlOptions& options);

}  // namespace rota::master::store::testing
