#include "master/store/mysql/connection.h"

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <fmt/format.h>
#include <mysql_driver.h>

#include <mutex>
#include <unordered_map>

#include "common/base/log.h"
#include "master/store/mysql/database_secret.h"
#include "master/store/mysql/mysql_errors.h"
#include "master/store/prose.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kKeptStatements = 256;

sql::mysql::MySQL_Driver& driver() {
  static sql::mysql::MySQL_Driver* const instance = sql::mysql::get_driver_instance();
  return *instance;
}

void set_up_this_thread() { thread_local const MysqlThread guard; }

int whole_seconds(Millis timeout) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  return static_cast<int>(seconds < 1 ? 1 : seconds);
}

sql::ConnectOptionsMap connect_options(const MysqlOptions& options, const std::string& password,
                                       Texts texts) {
  sql::ConnectOptionsMap map;
  const std::string place = options.socket.empty()
                                ? fmt::format("tcp://{}:{}", options.host, options.port)
                                : "unix://" + options.socket;
  map["hostName"] = sql::SQLString(place);
  map["userName"] = sql::SQLString(options.user);
  map["password"] = sql::SQLString(password);
  map["schema"] = sql::SQLString(options.database);
  map["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
  map["CLIENT_MULTI_STATEMENTS"] = texts == Texts::Many;
  // The library wants these as int; anything else is ignored without a word.
  map["OPT_CONNECT_TIMEOUT"] = whole_seconds(options.connect_timeout);
  map["OPT_READ_TIMEOUT"] = whole_seconds(options.read_timeout);
  map["OPT_WRITE_TIMEOUT"] = whole_seconds(options.write_timeout);
  return map;
}

std::string place_of(const MysqlOptions& options) {
  return options.socket.empty() ? fmt::format("{}:{}", options.host, options.port) : options.socket;
}

class PreparedBinder final : public Binder {
 public:
  explicit PreparedBinder(sql::PreparedStatement& statement) : statement_(statement) {}
  PreparedBinder& integer(std::int64_t value) override {
    statement_.setInt64(next_++, value);
    return *this;
  }
  PreparedBinder& text(std::string_view value) override {
    statement_.setString(next_++, sql::SQLString(value.data(), value.size()));
    return *this;
  }
  PreparedBinder& null() override {
    statement_.setNull(next_++, sql::DataType::BIGINT);
    return *this;
  }

 private:
  sql::PreparedStatement& statement_;
  unsigned next_ = 1;
};

Result<void> visit_all(sql::ResultSet& rows, const Visit& visit) {
  while (rows.next()) {
    Row row(rows);
    if (auto ok = visit(row); !ok) return ok;
  }
  return {};
}

}  // namespace

void start_mysql_library() { driver(); }

MysqlThread::MysqlThread() { driver().threadInit(); }
MysqlThread::~MysqlThread() { driver().threadEnd(); }

// --- values -------------------------------------------------------------------------------------

Binder& Binder::time(const std::optional<WallTime>& value) {
  return value ? integer(to_ms(*value)) : null();
}
Binder& Binder::text_or_null(std::string_view value) {
  return value.empty() ? null() : text(value);
}
Binder& Binder::prose(std::string_view value, std::size_t most) {
  return is_clean_prose(value, most) ? text(value) : text(clean_prose(value, most));
}

std::int64_t Row::integer() { return rows_.getInt64(next_++); }
std::string Row::text() { return rows_.getString(next_++).asStdString(); }
std::optional<std::int64_t> Row::maybe_integer() {
  if (rows_.isNull(next_)) {
    ++next_;
    return std::nullopt;
  }
  return integer();
}
std::optional<std::string> Row::maybe_text() {
  if (rows_.isNull(next_)) {
    ++next_;
    return std::nullopt;
  }
  return text();
}
std::optional<WallTime> Row::maybe_time() {
  const auto ms = maybe_integer();
  return ms ? std::optional(wall_from_ms(*ms)) : std::nullopt;
}

// --- the connection -----------------------------------------------------------------------------

struct Connection::Library {
  std::unique_ptr<sql::Connection> connection;
  // After `connection`, so that they go first.
  std::unordered_map<std::string, std::unique_ptr<sql::PreparedStatement>> statements;
};

Connection::Connection(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Connection::~Connection() {
  set_up_this_thread();
  try {
    library_.reset();
  } catch (...) {  // closing a dead connection may throw; it is gone either way
  }
}

Error Connection::give_up(std::string_view what, int code, const std::string& message) {
  given_up_ = true;
  last_sql_error_ = code;
  if (hosts_ && is_host_unusable(code)) hosts_->note_failure(host_, BootClock::now(), code);
  const std::string remedy = remedy_for_sql_error(code, message, database_);
  why_given_up_ = fmt::format("database: {} failed: {} ({}){}{}", what, message, code,
                              remedy.empty() ? "" : "; ", remedy);
  return Error(code == 0 ? ErrorCode::Internal : code_of_sql_error(code), why_given_up_);
}

/// The one place where the library's exceptions end. `work` may change what `what` refers to.
template <typename Work>
auto Connection::guarded(const std::string_view& what, const Work& work) -> decltype(work()) {
  if (!given_up_ && is_behind()) (void)give_up(what, 0, "its server is behind; another one is used now");
  if (given_up_) return fail(ErrorCode::Unavailable, "connection given up before: " + why_given_up_);
  set_up_this_thread();
  try {
    return work();
  } catch (const sql::SQLException& error) {
    return fail(give_up(what, error.getErrorCode(), error.what()));
  } catch (const std::exception& error) {
    return fail(give_up(what, 0, error.what()));
  }
}

Result<std::unique_ptr<Connection>> Connection::open(const MysqlOptions& options, Texts texts) {
  start_mysql_library();
  if (!options.hosts) return open_one(options, texts);
  Error why(ErrorCode::Unavailable, "");
  for (const DatabaseHost& host : options.hosts->in_order(BootClock::now())) {
    MysqlOptions there = options;
    there.host = host.host;
    there.port = host.port;
    there.socket.clear();
    auto opened = open_one(there, texts);
    if (opened) {
      options.hosts->note_use(host);
      return opened;
    }
    options.hosts->note_failure(host, BootClock::now());
    why = Error(opened.error().code,
                why.message.empty() ? opened.error().message : why.message + "; " + opened.error().message);
  }
  return fail(std::move(why));
}

Result<std::unique_ptr<Connection>> Connection::open_one(const MysqlOptions& options, Texts texts) {
  bool is_refused = false;
  if (!options.secret) return open_with(options, {options.password, texts}, is_refused);
  const std::string password = options.secret->password();
  auto opened = open_with(options, {password, texts}, is_refused);
  if (!is_refused) return opened;
  auto other = options.secret->instead_of(password);
  if (!other && other.error().code == ErrorCode::NotFound) return opened;
  if (!other) return fail(opened.error().code, opened.error().message + ": " + other.error().message);
  log_info("database", "the server refused the password; its file holds another one, which is used now");
  return open_with(options, {*other, texts}, is_refused);
}

Result<std::unique_ptr<Connection>> Connection::open_with(const MysqlOptions& options,
                                                          const Login& login, bool& is_refused) {
  std::unique_ptr<Connection> made(new Connection(std::make_unique<Library>()));
  made->database_ = options.database;
  if (options.hosts) {
    made->hosts_ = options.hosts;
    made->host_ = {options.host, options.port};
    made->times_behind_ = options.hosts->times_behind(made->host_);
  }
  const std::string what = "connecting to " + place_of(options);
  auto connected = made->guarded(what, [&]() -> Result<void> {
    auto map = connect_options(options, login.password, login.texts);
    made->library_->connection.reset(driver().connect(map));
    return {};
  });
  is_refused = !connected && made->last_sql_error() == kAccessDenied;
  if (!connected) return fail(connected.error());
  if (auto set = made->set_session(options); !set) return fail(set.error());
  return made;
}

struct Connection::Server {
  std::string version;
  bool is_galera = false;
  bool is_read_only = false;
};

/// By SHOW: a Galera node that is not prepared answers nothing else.
Result<Connection::Server> Connection::ask_server() {
  Server server;
  auto asked = stream(
      "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'read_only')",
      [&](Row& row) -> Result<void> {
        const std::string name = row.text();
        const std::string value = row.text();
        if (name == "version") server.version = value;
        if (name == "wsrep_on") server.is_galera = value == "ON" || value == "1";
        if (name == "read_only") server.is_read_only = value != "OFF" && value != "0";
        return {};
      });
  if (!asked) return fail(asked.error());
  return server;
}

/// Only a node of the primary component has what was committed, and may commit.
Result<void> Connection::ask_node() {
  std::string ready, component, state;
  auto asked = stream(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', "
      "'wsrep_local_state_comment', 'wsrep_gcomm_uuid')",
      [&](Row& row) -> Result<void> {
        const std::string name = row.text();
        (name == "wsrep_ready" ? ready
         : name == "wsrep_cluster_status" ? component
         : name == "wsrep_gcomm_uuid" ? node_ : state) = row.text();
        return {};
      });
  if (!asked) return asked;
  if (ready == "ON" && component == "Primary" && !node_.empty()) return {};
  return fail(give_up("using the Galera node", kNodeNotPrepared,
                      fmt::format("it is not prepared: component {}, state {}", component, state)));
}

Result<void> Connection::set_session(const MysqlOptions& options) {
  const auto server = ask_server();
  if (!server) return fail(server.error());
  if (server->is_galera) {
    if (auto usable = ask_node(); !usable) return usable;
  }
  if (server->is_read_only && options.hosts && options.hosts->count() > 1) {
    return fail(give_up("using " + place_of(options), kReadOnlyServer, "the server is read-only"));
  }
  auto asked = stream("SELECT CONNECTION_ID()", [&](Row& row) -> Result<void> {
    id_ = row.integer();
    return {};
  });
  if (!asked) return asked;
  is_mariadb_ = server->version.find("MariaDB") != std::string::npos;
  std::string settings = fmt::format(
      "SET autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,"
      "ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE', time_zone = '+00:00', "
      "innodb_lock_wait_timeout = {}",
      whole_seconds(options.lock_wait));
  if (is_mariadb_) {
    settings += fmt::format(", idle_transaction_timeout = {}", whole_seconds(options.idle_transaction));
  }
  if (certifies()) settings += ", wsrep_sync_wait = 1";
  for (const std::string& sql :
       {std::string("SET NAMES utf8mb4 COLLATE utf8mb4_bin"), settings,
        std::string("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")}) {
    if (auto done = run_text(sql); !done) return fail(done.error());
  }
  return {};
}

Result<void> Connection::only_write_under_fences() {
  if (!certifies()) return {};
  auto set = run_text("SET wsrep_sync_wait = 0, autocommit = 0");
  return set ? Result<void>() : fail(set.error());
}

sql::PreparedStatement& Connection::prepared(const std::string& sql) {
  auto& kept = library_->statements;
  auto found = kept.find(sql);
  if (found == kept.end()) {
    if (kept.size() >= kKeptStatements) kept.clear();
    std::unique_ptr<sql::PreparedStatement> made(library_->connection->prepareStatement(sql));
    found = kept.emplace(sql, std::move(made)).first;
  }
  return *found->second;
}

Result<std::int64_t> Connection::change(const std::string& sql, const Bind& bind) {
  return guarded(sql.substr(0, 60), [&]() -> Result<std::int64_t> {
    auto& statement = prepared(sql);
    PreparedBinder binder(statement);
    if (bind) bind(binder);
    const std::int64_t counted = statement.executeUpdate();
    if (progress_) progress_();
    return counted;
  });
}

Result<void> Connection::query(const std::string& sql, const Bind& bind, const Visit& visit) {
  return guarded(sql.substr(0, 60), [&]() -> Result<void> {
    auto& statement = prepared(sql);
    PreparedBinder binder(statement);
    if (bind) bind(binder);
    const std::unique_ptr<sql::ResultSet> rows(statement.executeQuery());
    return visit_all(*rows, visit);
  });
}

Result<void> Connection::stream(const std::string& sql, const Visit& visit) {
  return guarded(sql.substr(0, 60), [&]() -> Result<void> {
    const std::unique_ptr<sql::Statement> statement(library_->connection->createStatement());
    statement->setResultSetType(sql::ResultSet::TYPE_FORWARD_ONLY);
    const std::unique_ptr<sql::ResultSet> rows(statement->executeQuery(sql));
    auto visited = visit_all(*rows, visit);
    if (!visited) {  // rows may still be under way
      given_up_ = true;
      why_given_up_ = visited.error().message;
    }
    return visited;
  });
}

Result<std::int64_t> Connection::run_text(const std::string& sql) {
  return guarded(sql.substr(0, 60), [&]() -> Result<std::int64_t> {
    const std::unique_ptr<sql::Statement> statement(library_->connection->createStatement());
    statement->execute(sql);
    return static_cast<std::int64_t>(statement->getUpdateCount());
  });
}

/// Rows that nobody expects are fetched too, or the next statement would meet them.
Result<void> Connection::read_answer(sql::Statement& statement, bool has_rows, const Script::Part& part) {
  if (has_rows) {
    const std::unique_ptr<sql::ResultSet> rows(statement.getResultSet());
    if (rows && part.visit) return visit_all(*rows, part.visit);
  }
  if (!part.visit) return {};
  return fail(ErrorCode::Internal, "a statement that should give rows gave none");
}

Result<void> Connection::run_all(const Script& script) {
  const std::string_view text = script.text;
  std::string_view what = text.substr(0, 60);
  return guarded(what, [&]() -> Result<void> {
    const std::unique_ptr<sql::Statement> statement(library_->connection->createStatement());
    bool has_rows = statement->execute(script.text);
    for (std::size_t i = 0; i < script.parts.size(); ++i) {
      what = text.substr(script.parts[i].at, 60);
      if (i > 0) has_rows = statement->getMoreResults();
      if (auto read = read_answer(*statement, has_rows, script.parts[i]); !read) {
        given_up_ = true;  // answers are still under way
        why_given_up_ = read.error().message;
        return read;
      }
      if (progress_) progress_();
    }
    return {};
  });
}

Result<void> Connection::begin() {
  auto begun = run_text("START TRANSACTION");
  if (!begun) return fail(begun.error());
  in_transaction_ = true;
  return {};
}

Result<void> Connection::end_transaction() {
  if (given_up_) return fail(ErrorCode::Unavailable, "COMMIT not sent: " + why_given_up_);
  if (last_write_) {
    const auto whole = run_text(std::string(kReleaseFence));
    if (!whole) {
      return fail(last_sql_error_ == kNoSuchSavepoint ? undone_unsaid(whole.error().message) : whole.error());
    }
  }
  auto sent = run_text("COMMIT");
  in_transaction_ = false;
  if (sent) return check_write();
  if (last_sql_error_ == kDeadlock) {
    return fail(ErrorCode::Unavailable, "the COMMIT was refused: " + sent.error().message);
  }
  return fail(ErrorCode::UnknownOutcome, "no clear answer to COMMIT: " + sent.error().message);
}

Result<void> Connection::expect_write() {
  if (!certifies()) return {};
  auto asked = stream(std::string(kLastWrite), [this](Row& row) -> Result<void> {
    expect_write_after(row.text());
    return {};
  });
  if (!asked) return asked;
  auto marked = run_text(std::string(kMarkFence));
  return marked ? Result<void>() : fail(marked.error());
}

/// The same to callers as a COMMIT that was refused.
Error Connection::undone_unsaid(const std::string& message) {
  last_write_.reset();
  return give_up("COMMIT", kDeadlock, "the node undid the transaction without a word: " + message);
}

Result<void> Connection::check_write() {
  const auto before = std::exchange(last_write_, std::nullopt);
  if (!before) return {};
  std::string now;
  auto asked = stream(std::string(kLastWrite), [&](Row& row) -> Result<void> {
    now = row.text();
    return {};
  });
  if (!asked) return fail(ErrorCode::UnknownOutcome, "COMMIT was answered, but not whether it wrote");
  if (now != *before) return {};
  return fail(undone_unsaid("it was answered with success, but nothing was written"));
}

Result<void> Connection::undo() {
  auto undone = run_text("ROLLBACK");
  in_transaction_ = false;
  last_write_.reset();
  return undone ? Result<void>() : fail(undone.error());
}

}  // namespace rota::master::store
