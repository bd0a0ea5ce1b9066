// The only road to the database. It is built so that what the client library gets wrong cannot be
// forgotten by those above it:
//  - COMMIT, ROLLBACK and SET travel as SQL text (the library's own calls succeed on dead connections);
//  - any error gives the connection up, with its prepared statements: after it every call answers
//    Unavailable, so a half-undone transaction can never be continued (errors 1205, 1213) and a
//    statement can never run in a transaction of its own by accident;
//  - a statement that failed (COMMIT was never sent: surely nothing stands) and a COMMIT without an answer
//    are different errors;
//  - library exceptions end here, library threads are set up and torn down here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/mysql/database_hosts.h"
#include "master/store/mysql/mysql_options.h"

namespace sql {
class PreparedStatement;
class ResultSet;
class Statement;
}  // namespace sql

namespace rota::master::store {

/// Gives the values of a statement, in order: to a prepared one, or as literals (literals.h). Valid inside a
/// Bind only.
class Binder {
 public:
  virtual ~Binder() = default;
  virtual Binder& integer(std::int64_t value) = 0;
  virtual Binder& text(std::string_view value) = 0;  ///< bytes of any kind
  virtual Binder& null() = 0;
  Binder& time(WallTime value) { return integer(to_ms(value)); }
  Binder& time(const std::optional<WallTime>& value);
  Binder& text_or_null(std::string_view value);  ///< empty becomes NULL
  /// Text for people: what is no UTF-8 is replaced, what is beyond `most` bytes is cut off.
  Binder& prose(std::string_view value, std::size_t most);
};

/// Takes the columns of a row, from left to right. Valid inside a Visit only.
class Row {
 public:
  explicit Row(sql::ResultSet& rows) : rows_(rows) {}
  std::int64_t integer();                       ///< NULL reads as 0
  std::string text();                           ///< NULL reads as empty
  std::optional<std::int64_t> maybe_integer();
  std::optional<std::string> maybe_text();
  WallTime time() { return wall_from_ms(integer()); }
  std::optional<WallTime> maybe_time();

 private:
  sql::ResultSet& rows_;
  unsigned next_ = 1;
};

using Bind = std::function<void(Binder&)>;
/// An error ends the reading and becomes the query's answer.
using Visit = std::function<Result<void>(Row&)>;

/// Statements that travel as one text.
struct Script {
  struct Part {
    std::size_t at = 0;  ///< where it begins in the text
    Visit visit;         ///< its rows; empty: it gives none
  };
  std::string text;      ///< with ";" between them
  std::vector<Part> parts;
};

/// Whether several statements in one text are allowed on a connection.
enum class Texts { Single, Many };

/// One connection to the server. Owned by one part, used by one thread at a time.
///
/// Errors of every call: Unavailable (no connection, lost, killed, lock wait, deadlock, server full or
/// stopping: try again on a new connection), Denied (account), AlreadyExists (a unique key),
/// InvalidArgument (a value does not fit), Internal (a wrong statement: a bug). Between begin and
/// end_transaction every one of them means: surely not done. A change outside a transaction may have been
/// done when its answer was lost, so only what is harmless when repeated goes there.
class Connection {
 public:
  /// Connects and sets the session up: utf8mb4, strict mode, UTC, READ COMMITTED, lock wait, and on
  /// servers that know it the idle transaction timeout. On Galera each read outside a transaction first waits
  /// until its node has applied all that was committed before, anywhere.
  /// With several hosts: to the first that is usable. A Galera node that is not in the primary component is
  /// not, nor a server that is read-only.
  static Result<std::unique_ptr<Connection>> open(const MysqlOptions& options, Texts texts = Texts::Single);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A prepared statement that changes rows, kept for its next use. Gives the number of rows that the
  /// server counts (2 for a row that an upsert changed, 0 for one that it left as it was).
  Result<std::int64_t> change(const std::string& sql, const Bind& bind);
  /// A prepared query, kept for its next use; all rows are fetched before the first visit.
  Result<void> query(const std::string& sql, const Bind& bind, const Visit& visit);
  /// A query as text, row by row as they arrive: for large results and one-time statements. Only
  /// constants and numbers may stand in it.
  Result<void> stream(const std::string& sql, const Visit& visit);
  /// A statement as text, without rows.
  Result<std::int64_t> run_text(const std::string& sql);
  /// All statements in one round trip, where Texts::Many was asked for; answers are read in order. The first
  /// error, also one of a Visit, gives the connection up: what the server has not done yet by then, it may
  /// still do, so all of it must belong to one transaction, which ends with the connection.
  Result<void> run_all(const Script& script);

  Result<void> begin();
  /// Sends COMMIT. UnknownOutcome when no clear answer came: it may stand or not. A certification that failed
  /// is a clear answer: Unavailable.
  Result<void> end_transaction();
  /// Inside a transaction that will surely change a row, before its first change. A Galera node (MariaDB
  /// 10.11) may undo a transaction for another node's and tell none of its statements, where several travel
  /// in one text: those behind would stand alone, and COMMIT is answered with success. So end_transaction()
  /// then sends COMMIT only while the savepoint that is made here still is, and believes its answer only when
  /// the node names a newer write of this connection.
  Result<void> expect_write();
  /// The same, when kLastWrite was asked for, and kMarkFence done, together with other statements.
  void expect_write_after(std::string last_write) { last_write_ = std::move(last_write); }
  /// Sends ROLLBACK, for leaving a transaction by choice; after errors simply drop the connection.
  Result<void> undo();

  /// False after an error, and once its server was found to be behind (database_hosts.h).
  bool usable() const { return !given_up_ && !is_behind(); }
  bool in_transaction() const { return in_transaction_; }
  std::int64_t id() const { return id_; }               ///< the server's CONNECTION_ID()
  bool is_mariadb() const { return is_mariadb_; }
  /// Whether it is a node of a Galera cluster: several may write, and a commit is certified against theirs.
  bool certifies() const { return !node_.empty(); }
  /// Which node, under a name that it has until it leaves the cluster; empty: one server.
  const std::string& node() const { return node_; }
  /// On Galera: reads wait for no other node any more, and nothing is committed but by end_transaction(). For
  /// one that has waited, and then only writes, under fences.
  Result<void> only_write_under_fences();
  int last_sql_error() const { return last_sql_error_; } ///< e.g. 1205; 0 when none
  /// Called after each statement that was answered well.
  void tell_progress(std::function<void()> progress) { progress_ = std::move(progress); }

 private:
  struct Library;
  explicit Connection(std::unique_ptr<Library> library);
  struct Login {
    std::string password;
    Texts texts;
  };
  struct Server;
  static Result<std::unique_ptr<Connection>> open_one(const MysqlOptions& options, Texts texts);
  static Result<std::unique_ptr<Connection>> open_with(const MysqlOptions& options, const Login& login,
                                                       bool& is_refused);
  Result<void> set_session(const MysqlOptions& options);
  bool is_behind() const { return hosts_ && hosts_->times_behind(host_) != times_behind_; }
  Result<Server> ask_server();
  Result<void> ask_node();
  template <typename Work>
  auto guarded(const std::string_view& what, const Work& work) -> decltype(work());
  Result<void> read_answer(sql::Statement& statement, bool has_rows, const Script::Part& part);
  Result<void> check_write();
  Error undone_unsaid(const std::string& message);
  Error give_up(std::string_view what, int code, const std::string& message);
  sql::PreparedStatement& prepared(const std::string& sql);

  std::unique_ptr<Library> library_;
  bool given_up_ = false;
  bool in_transaction_ = false;
  bool is_mariadb_ = false;
  int last_sql_error_ = 0;
  std::optional<std::string> last_write_;  ///< before this transaction, where a newer one is expected
  std::int64_t id_ = 0;
  std::string node_;
  std::shared_ptr<DatabaseHosts> hosts_;  ///< one of them is `host_`; empty: there is one only
  DatabaseHost host_;
  int times_behind_ = 0;
  std::string database_;      ///< its name, for remedies
  std::string why_given_up_;
  std::function<void()> progress_;
};

/// For expect_write_after(): a Galera node's name of the connection's last write that was committed.
inline constexpr std::string_view kLastWrite = "SELECT WSREP_LAST_WRITTEN_GTID()";
inline constexpr std::string_view kMarkFence = "SAVEPOINT fence";
inline constexpr std::string_view kReleaseFence = "RELEASE SAVEPOINT fence";

/// Sets up the client library; must come before other threads start. Called by Connection::open too.
void start_mysql_library();

/// The library's set-up of this thread, undone when the thread ends. Connection makes one by itself for
/// every thread that uses it.
class MysqlThread {
 public:
  MysqlThread();
  ~MysqlThread();
  MysqlThread(const MysqlThread&) = delete;
  MysqlThread& operator=(const MysqlThread&) = delete;
};

}  // namespace rota::master::store
