#include "test/support/mariadb_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/random.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"
#include "test/support/program.h"

namespace rota::testing {
namespace {

/// Only root must name the user that the server runs as.
std::vector<std::string> with_user(std::vector<std::string> words) {
  if (::geteuid() == 0) words.insert(words.begin() + 2, "--user=root");
  return words;
}

}  // namespace

MariadbServer::MariadbServer() {
  folder_ = (std::filesystem::temp_directory_path() / ("rota-db-" + random_hex(6))).string();
  socket_ = folder_ + "/s";
  if (socket_.size() >= 100) {  // a longer path does not fit a socket's name
    folder_ = "/tmp/rota-db-" + random_hex(6);
    socket_ = folder_ + "/s";
  }
}

MariadbServer::~MariadbServer() {
  kill_hard();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<MariadbServer>> MariadbServer::start() {
  std::unique_ptr<MariadbServer> made(new MariadbServer());
  if (auto done = made->install(); !done) return fail(done.error());
  for (int i = 0; i < 3; ++i) {
    made->port_ = free_port();
    if (made->start_here()) break;
    if (i == 2) return fail(ErrorCode::Unavailable, "mariadbd does not come up");
  }
  auto account = made->sql(
      "CREATE USER rota_test@'127.0.0.1'; CREATE USER rota_test@localhost;"
      "GRANT ALL ON `rota%`.* TO rota_test@'127.0.0.1'; GRANT ALL ON `rota%`.* TO rota_test@localhost;");
  if (!account) return fail(account.error());
  return made;
}

MariadbServer& MariadbServer::shared() {
  static const std::unique_ptr<MariadbServer> server = [] {
    auto started = start();
    if (!started) {
      std::fprintf(stderr, "no MariaDB for the tests: %s\n", started.error().message.c_str());
      std::exit(1);
    }
    return std::move(*started);
  }();
  return *server;
}

Result<void> MariadbServer::install() {
  if (auto made = make_folders(folder_); !made) return made;
  auto done = run(with_user({"mariadb-install-db", "--no-defaults", "--force", "--skip-name-resolve",
                             "--datadir=" + folder_ + "/data",
                             "--tmpdir=" + folder_,  // each server that starts empties a shared folder
                             "--auth-root-authentication-method=normal", "--skip-test-db"}),
                  folder_ + "/install.log");
  return done ? Result<void>() : fail(done.error());
}

Result<void> MariadbServer::start_here() {
  // With setpriv it dies with this thread, so that a crashed test leaves no server behind.
  std::vector<std::string> words = with_user(
      {"mariadbd", "--no-defaults", "--datadir=" + folder_ + "/data", "--tmpdir=" + folder_, "--socket=" + socket_,
       "--pid-file=" + folder_ + "/pid", "--bind-address=127.0.0.1", "--port=" + std::to_string(port_),
       "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=2"});
  words.insert(words.begin(), {"setpriv", "--pdeathsig", "KILL"});
  pid_ = spawn(std::move(words), folder_ + "/server.log");
  if (pid_ < 0) return fail(ErrorCode::Internal, "cannot start mariadbd");
  auto up = wait_until_it_answers(kPatience);
  if (!up) kill_hard();
  return up;
}

Result<void> MariadbServer::wait_until_it_answers(Millis at_most) {
  for (const MonoTime end = BootClock::now() + at_most; BootClock::now() < end;) {
    if (::access(socket_.c_str(), F_OK) == 0 && sql("SELECT 1")) return {};
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return fail(ErrorCode::Unavailable, "mariadbd ended at once");
    }
    std::this_thread::sleep_for(Millis{10});
  }
  return fail(ErrorCode::TimedOut, "mariadbd does not answer");
}

std::string MariadbServer::fresh_database() {
  const std::string name = "rota_" + std::to_string(++databases_);
  auto made = sql("CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
  if (!made) {
    std::fprintf(stderr, "no database for a test: %s\n", made.error().message.c_str());
    std::exit(1);
  }
  return name;
}

Result<std::string> MariadbServer::sql(const std::string& text, const std::string& database) {
  std::vector<std::string> words{"mariadb",  "--no-defaults",       "--user=root", "--socket=" + socket_,
                                 "--batch", "--skip-column-names", "--execute",   text};
  if (!database.empty()) words.push_back(database);
  return run(std::move(words), folder_ + "/client.out");
}

void MariadbServer::kill_hard() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void MariadbServer::freeze() {
  if (pid_ > 0 && ::kill(pid_, SIGSTOP) == 0) ::waitpid(pid_, nullptr, WUNTRACED);
}

void MariadbServer::thaw() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

Result<void> MariadbServer::restart() {
  kill_hard();
  std::error_code ignored;
  std::filesystem::remove(socket_, ignored);
  return start_here();
}

}  // namespace rota::testing
