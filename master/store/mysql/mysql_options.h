// Where the database is and how long its answers may take. Plain values: master/main fills them from
// the configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/time.h"

namespace rota::master::store {

class DatabaseHosts;
class DatabaseSecret;

/// Timeouts are rounded up to whole seconds, which is what the client library knows.
struct MysqlOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 3306;
  /// When set, what counts in place of host, port and socket. Shared, as the secret is.
  std::shared_ptr<DatabaseHosts> hosts;
  std::string socket;               ///< path of a Unix socket; when set, host and port are not used
  std::string user = "rota";
  std::string password;
  /// When set, what counts in place of `password`. Shared, for each part of a process has these options.
  std::shared_ptr<DatabaseSecret> secret;
  std::string database = "rota";    ///< must exist; every table is made inside it
  Millis connect_timeout{2000};
  Millis read_timeout{4000};        ///< of one answer; above the lock wait, so that a wait ends clearly
  Millis write_timeout{2000};
  Millis lock_wait{3000};           ///< innodb_lock_wait_timeout
  Millis idle_transaction{2000};    ///< after which the server ends an idle transaction (MariaDB)
};

}  // namespace rota::master::store
