// The account's password changes while a process runs.
#include <doctest/doctest.h>

#include "master/store/mysql/connection_pool.h"
#include "master/store/mysql/database_secret.h"
#include "master/store/mysql/mysql_store.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

/// An account of its own, and what "the file" holds.
struct Account {
  Fixture fixture;
  std::shared_ptr<std::string> file = std::make_shared<std::string>("first");
  MysqlOptions options = fixture.options;

  Account() {
    run("CREATE OR REPLACE USER keyed@'127.0.0.1' IDENTIFIED BY 'first'; GRANT ALL ON " +
        options.database + ".* TO keyed@'127.0.0.1'");
    options.user = "keyed";
    options.secret = std::make_shared<DatabaseSecret>("first", [file = file]() -> Result<std::string> {
      if (file->empty()) return fail(ErrorCode::Denied, "FILE can be read by others; run chmod 600 FILE");
      return *file;
    });
  }
  ~Account() { run("DROP USER keyed@'127.0.0.1'"); }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  void run(const std::string& sql) const { REQUIRE(fixture.server.sql(sql)); }
  /// As an administrator who leaves no session with the old one.
  void change_password(const std::string& to) const {
    run("ALTER USER keyed@'127.0.0.1' IDENTIFIED BY '" + to + "'; KILL HARD USER keyed@'127.0.0.1'");
  }
};

}  // namespace

TEST_CASE("password: changed in the server and in the file, every connection goes on") {
  const Account account;
  MysqlStore store(account.options);
  ConnectionPool pool(account.options, {});
  const auto ask = [](Connection& connection) { return connection.stream("SELECT 1", [](Row&) { return Result<void>{}; }); };
  REQUIRE(store.apply(Epoch{1}, new_runs(100, 1)).outcome == ApplyOutcome::Applied);
  REQUIRE(pool.with(ask));

  *account.file = "second";
  account.change_password("second");
  CHECK(store.apply(Epoch{1}, {}).outcome == ApplyOutcome::Failed);  // its connection was ended
  CHECK(store.apply(Epoch{1}, new_runs(200, 1)).outcome == ApplyOutcome::Applied);
  CHECK(pool.with(ask));
  CHECK(account.options.secret->password() == "second");
}

TEST_CASE("password: when the server changes first, the refusal says what to do until the file follows") {
  const Account account;
  account.change_password("second");
  auto refused = Connection::open(account.options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Denied);
  CHECK(refused.error().message.find("is the password in database.password_file the account's?") != std::string::npos);
  account.file->clear();
  refused = Connection::open(account.options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("run chmod 600 FILE") != std::string::npos);
  *account.file = "second";
  CHECK(Connection::open(account.options));
}
