// A private MariaDB for tests: a free port of 127.0.0.1 and a temporary folder of its own, removed with the
// object. Never touches the machine's own server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::testing {

/// Thread: the one that starts it must outlive it (the server dies with that thread).
class MariadbServer {
 public:
  /// Installs and starts a server and waits until it answers.
  static Result<std::unique_ptr<MariadbServer>> start();
  /// The server of this test program: started by the first call, ended with the program. When it cannot be
  /// started, it ends the program.
  static MariadbServer& shared();

  ~MariadbServer();
  MariadbServer(const MariadbServer&) = delete;
  MariadbServer& operator=(const MariadbServer&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& socket() const { return socket_; }
  /// An account without a password that has all rights on databases called rota…, like the real one, and no
  /// others. Over TCP (127.0.0.1) and over the socket.
  const std::string& user() const { return user_; }
  pid_t pid() const { return pid_; }

  /// Creates an empty database with a new name, e.g. "rota_3".
  std::string fresh_database();
  /// Runs SQL text as root through the `mariadb` client; returns its output (tab separated, without
  /// a header).
  Result<std::string> sql(const std::string& text, const std::string& database = "");

  void kill_hard();        ///< SIGKILL, and waits for the end
  void freeze();           ///< SIGSTOP; returns when its last thread has stopped
  void thaw();             ///< SIGCONT
  Result<void> restart();  ///< starts it on the same port and data; kills it first if it is alive

 private:
  MariadbServer();
  Result<void> install();
  Result<void> start_here();
  Result<void> wait_until_it_answers(Millis at_most);

  std::string folder_;
  std::string socket_;
  std::string user_ = "rota_test";
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
  int databases_ = 0;
};

}  // namespace rota::testing
