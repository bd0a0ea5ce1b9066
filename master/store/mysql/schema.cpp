#include "master/store/mysql/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/base/log.h"
#include "common/base/random.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {
namespace {

constexpr int kLockWaitSeconds = 3;
constexpr int kLockTable = 55;
constexpr int kLockRowSeconds = 30;

Result<bool> has_step_table(Connection& connection) {
  bool has = false;
  auto asked = connection.stream(
      "SELECT COUNT(*) FROM information_schema.tables "
      "WHERE table_schema = DATABASE() AND table_name = 'schema_step'",
      [&](Row& row) -> Result<void> {
        has = row.integer() > 0;
        return {};
      });
  if (!asked) return fail(asked.error());
  return has;
}

Result<std::set<int>> applied_steps(Connection& connection) {
  std::set<int> taken;
  auto has = has_step_table(connection);
  if (!has) return fail(has.error());
  if (!*has) return taken;
  auto asked = connection.stream("SELECT number FROM schema_step", [&](Row& row) -> Result<void> {
    taken.insert(static_cast<int>(row.integer()));
    return {};
  });
  if (!asked) return fail(asked.error());
  return taken;
}

const SchemaStep& lock_table() {
  return *std::ranges::find(schema_steps(), kLockTable, &SchemaStep::number);
}

/// On Galera GET_LOCK holds on one node alone. A row is changed by one master at a time, everywhere; whoever
/// dies with it holds it until it lapses.
Result<std::string> acquire_lock_row(Connection& connection) {
  const std::string tag = random_hex(16);
  if (auto made = connection.run_text(std::string(lock_table().sql)); !made) return fail(made.error());
  for (const std::string& sql :
       {std::string("INSERT INTO schema_lock (one) VALUES (1) ON DUPLICATE KEY UPDATE one = one"),
        fmt::format("UPDATE schema_lock SET tag = '{}', held_until = UTC_TIMESTAMP(6) + INTERVAL {} SECOND "
                    "WHERE one = 1 AND held_until <= UTC_TIMESTAMP(6)", tag, kLockRowSeconds)}) {
    if (auto done = connection.run_text(sql); !done) return fail(done.error());
  }
  std::string holder;
  auto asked = connection.stream("SELECT tag FROM schema_lock WHERE one = 1", [&](Row& row) -> Result<void> {
    holder = row.text();
    return {};
  });
  if (!asked) return fail(asked.error());
  if (holder != tag) return fail(ErrorCode::TimedOut, "another master is changing the schema; try again");
  return tag;
}

Result<void> release_lock_row(Connection& connection, const std::string& tag) {
  auto freed = connection.run_text(fmt::format(
      "UPDATE schema_lock SET held_until = '2000-01-01 00:00:00' WHERE one = 1 AND tag = '{}'", tag));
  return freed ? Result<void>() : fail(freed.error());
}

/// The lock is named by server, not by database: the database's name is added, so that clusters that
/// share a server do not wait for each other. It goes with the connection.
Result<void> acquire_schema_lock(Connection& connection) {
  std::int64_t got = 0;
  auto asked = connection.stream(
      fmt::format("SELECT GET_LOCK(LEFT(CONCAT('rota.schema.', DATABASE()), 64), {})", kLockWaitSeconds),
      [&](Row& row) -> Result<void> {
        got = row.integer();
        return {};
      });
  if (!asked) return asked;
  if (got != 1) return fail(ErrorCode::TimedOut, "another master is changing the schema; try again");
  return {};
}

/// A step that adds columns cannot simply be repeated. When its first column exists, only its record was
/// lost.
Result<bool> has_taken_effect(Connection& connection, const SchemaStep& step) {
  const auto added = added_column(step.sql);
  if (!added) return false;
  bool has = false;
  auto asked = connection.query(
      "SELECT COUNT(*) FROM information_schema.columns "
      "WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?",
      [&](Binder& binder) { binder.text(added->first).text(added->second); },
      [&](Row& row) -> Result<void> {
        has = row.integer() > 0;
        return {};
      });
  if (!asked) return fail(asked.error());
  return has;
}

Result<void> apply_step(Connection& connection, const SchemaStep& step) {
  const auto done = has_taken_effect(connection, step);
  if (!done) return fail(done.error());
  if (auto ran = *done ? Result<std::int64_t>(0) : connection.run_text(std::string(step.sql)); !ran) {
    return fail(ran.error().code,
                fmt::format("schema step {} ({}): {}", step.number, step.name, ran.error().message));
  }
  auto recorded = connection.change(
      "INSERT INTO schema_step (number, name, taken_ms) "
      "VALUES (?, ?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)) "
      "ON DUPLICATE KEY UPDATE number = number",
      [&](Binder& binder) { binder.integer(step.number).text(step.name); });
  if (!recorded) return fail(recorded.error());
  log_debug("store", "schema step taken", {{"step", step.number}, {"name", step.name}});
  return {};
}

Result<void> refuse_newer(const std::set<int>& taken, int newest_known) {
  if (taken.empty() || *taken.rbegin() <= newest_known) return {};
  return fail(ErrorCode::Unsupported,
              fmt::format("the database has schema step {}, this program knows only up to {}: "
                          "run a newer rota-master",
                          *taken.rbegin(), newest_known));
}

Result<int> apply_steps(Connection& connection) {
  auto taken = applied_steps(connection);
  if (!taken) return fail(taken.error());
  const int newest = schema_steps().back().number;
  if (auto known = refuse_newer(*taken, newest); !known) return fail(known.error());
  int count = 0;
  for (const SchemaStep& step : schema_steps()) {
    if (taken->contains(step.number)) continue;
    if (auto done = apply_step(connection, step); !done) return fail(done.error());
    ++count;
  }
  if (count > 0) log_info("store", "schema steps taken", {{"count", count}, {"newest", newest}});
  return newest;
}

/// Nobody waits for the lock who has nothing to do.
Result<int> upgrade_on_galera(Connection& connection) {
  const auto taken = applied_steps(connection);
  if (!taken) return fail(taken.error());
  const int newest = schema_steps().back().number;
  if (auto known = refuse_newer(*taken, newest); !known) return fail(known.error());
  if (taken->size() >= schema_steps().size()) return newest;
  const auto tag = acquire_lock_row(connection);
  if (!tag) return fail(tag.error());
  auto done = apply_steps(connection);
  if (!done) return done;
  if (auto freed = release_lock_row(connection, *tag); !freed) return fail(freed.error());
  return done;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> added_column(std::string_view sql) {
  const std::size_t begin = sql.find("\nALTER TABLE ");
  if (begin == std::string_view::npos) return std::nullopt;
  std::istringstream words{std::string(sql.substr(begin))};
  std::string alter, table_word, table, add, column_word, column;
  words >> alter >> table_word >> table >> add >> column_word >> column;
  if (add != "ADD" || column_word != "COLUMN" || column.empty()) return std::nullopt;
  return std::pair{table, column};
}

Result<int> upgrade_schema(const MysqlOptions& options) {
  auto opened = Connection::open(options);
  if (!opened) return fail(opened.error());
  Connection& connection = **opened;
  if (connection.certifies()) return upgrade_on_galera(connection);
  if (auto locked = acquire_schema_lock(connection); !locked) return fail(locked.error());
  return apply_steps(connection);
}

}  // namespace rota::master::store
