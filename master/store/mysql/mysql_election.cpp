#include "master/store/mysql/mysql_election.h"

#include <fmt/format.h>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/epoch_fence.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kLongestWords = 1000;

}  // namespace

MysqlElection::MysqlElection(MysqlOptions options) : options_(std::move(options)) {}
MysqlElection::~MysqlElection() = default;

Result<Connection*> MysqlElection::connection() {
  if (connection_ && !connection_->usable()) connection_.reset();
  if (!connection_) {
    auto opened = Connection::open(options_);
    if (!opened) return fail(opened.error());
    connection_ = std::move(*opened);
  }
  return connection_.get();
}

/// After any error the connection goes.
template <typename Value>
Result<Value> MysqlElection::kept(Result<Value> answer) {
  if (!answer) connection_.reset();
  return answer;
}

Result<std::string> MysqlElection::elector() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  std::string name;
  auto read = (*connection)->query("SELECT elector FROM election WHERE one = 1", {},
                                   [&](Row& row) -> Result<void> {
                                     name = row.text();
                                     return {};
                                   });
  if (!read) return kept(Result<std::string>(fail(read.error())));
  return name;
}

Result<void> MysqlElection::set_elector(Epoch epoch, const std::string& name) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return kept(try_set(**connection, epoch, name));
}

Result<void> MysqlElection::try_set(Connection& connection, Epoch epoch, const std::string& name) {
  if (auto begun = connection.begin(); !begun) return begun;
  const auto found = enter_fence(connection);
  if (!found) return fail(found.error());
  if (*found != epoch) {
    if (auto undone = connection.undo(); !undone) return undone;
    return fail(ErrorCode::Fenced, fmt::format("epoch {} is in force", found->value));
  }
  auto put = connection.change(
      "INSERT INTO election (one, elector) VALUES (1, ?) ON DUPLICATE KEY UPDATE elector = VALUES(elector)",
      [&](Binder& binder) { binder.text(name); });
  if (!put) return fail(put.error());
  return connection.end_transaction();
}

Result<MysqlElection::Lease> MysqlElection::read() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  bool has_row = false;
  return kept(read_with(**connection, has_row));
}

Result<MysqlElection::Lease> MysqlElection::read_with(Connection& connection, bool& has_row) {
  Lease lease;
  auto read = connection.query(
      "SELECT tag, words, held_until > UTC_TIMESTAMP(6) FROM election WHERE one = 1", {},
      [&](Row& row) -> Result<void> {
        Lease stands{row.text(), row.text()};
        if (row.integer() != 0) lease = std::move(stands);
        has_row = true;
        return {};
      });
  if (!read) return fail(read.error());
  return lease;
}

Result<MysqlElection::Lease> MysqlElection::hold(const std::string& tag, const std::string& words,
                                                 Millis lease) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  if (auto held = kept(try_hold(**connection, tag, words, lease)); !held) return fail(held.error());
  bool has_row = false;
  auto seen = kept(read_with(**connection, has_row));
  if (!seen || has_row) return seen;
  if (auto made = kept(make_row(**connection)); !made) return fail(made.error());
  return Lease{};  // free: the next call holds it
}

/// Only the database's clock is asked. A row that another holds stays as it is.
Result<void> MysqlElection::try_hold(Connection& connection, const std::string& tag,
                                     const std::string& words, Millis lease) {
  auto held = connection.change(
      "UPDATE election SET tag = ?, words = ?, held_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND "
      "WHERE one = 1 AND (tag = ? OR held_until <= UTC_TIMESTAMP(6))",
      [&](Binder& binder) {
        binder.text(tag).prose(words, kLongestWords).integer(Micros(lease).count()).text(tag);
      });
  return held ? Result<void>() : fail(held.error());
}

Result<void> MysqlElection::make_row(Connection& connection) {
  auto made = connection.change("INSERT INTO election (one) VALUES (1) ON DUPLICATE KEY UPDATE one = one",
                                [](Binder&) {});
  return made ? Result<void>() : fail(made.error());
}

Result<void> MysqlElection::release(const std::string& tag) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  auto freed = (*connection)->change(
      "UPDATE election SET tag = '', words = '', held_until = '2000-01-01 00:00:00' "
      "WHERE one = 1 AND tag = ?",
      [&](Binder& binder) { binder.text(tag); });
  if (!freed) return kept(Result<void>(fail(freed.error())));
  return {};
}

}  // namespace rota::master::store
