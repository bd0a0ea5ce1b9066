#include "master/store/mysql/mysql_errors.h"

#include <fmt/format.h>

namespace rota::master::store {
namespace {

/// 'rota'@'10.0.0.1', as the server names it in its refusals; empty: it does not.
std::string account_in(const std::string& message) {
  const std::size_t middle = message.find("'@'");
  if (middle == std::string::npos || middle == 0) return "";
  const std::size_t begin = message.rfind('\'', middle - 1);
  const std::size_t end = message.find('\'', middle + 3);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return message.substr(begin, end + 1 - begin);
}

std::string grant(const std::string& message, const std::string& database) {
  const std::string account = account_in(message);
  return fmt::format("the account lacks a privilege; as an administrator: GRANT ALL ON `{}`.* TO {}",
                     database, account.empty() ? "the account" : account);
}

}  // namespace

ErrorCode code_of_sql_error(int number) {
  switch (number) {
    case 1044:  // access to the database denied
    case 1045:  // account or password
    case 1142:  // command denied on a table
    case 1227:  // privilege missing
    case 1698:
      return ErrorCode::Denied;
    case 1049:  // no such database
      return ErrorCode::NotFound;
    case 1062:  // unique key
    case 1586:
      return ErrorCode::AlreadyExists;
    case 1048:  // NULL where none may be
    case 1153:  // packet too large
    case 1264:  // out of range
    case 1265:  // truncated
    case 1364:  // no default
    case 1366:  // wrong value, e.g. no UTF-8
    case 1406:  // too long
    case 3819:  // check constraint (MySQL)
    case 4025:  // check constraint (MariaDB)
      return ErrorCode::InvalidArgument;
    case 1021:  // disk full
    case 1040:  // too many connections
    case kNodeNotPrepared:  // Galera: outside the primary component, or still joining
    case 1053:  // server shuts down
    case 1114:  // table full
    case 1158: case 1159: case 1160: case 1161:  // packets
    case 1180:  // error during COMMIT
    case 1203:  // too many connections of this account
    case kLockWaitTimeout:
    case kDeadlock:
    case kReadOnlyServer: case 1792: case 1836:  // read only
    case 1317:  // query interrupted
    case 1927:  // connection was killed
    case 3024:  // statement took too long
    case 1969:
      return ErrorCode::Unavailable;
    default:
      return number >= 2000 && number < 3000 ? ErrorCode::Unavailable : ErrorCode::Internal;
  }
}

std::string remedy_for_sql_error(int number, const std::string& message, const std::string& database) {
  switch (number) {
    case kAccessDenied: case 1698:
      return "is the password in database.password_file the account's? the file is read again at each "
             "refusal";
    case 1044: case 1142: case 1143: case 1227:
      return grant(message, database);
    case 1049:
      return fmt::format("as an administrator: CREATE DATABASE `{}` CHARACTER SET utf8mb4 "
                         "COLLATE utf8mb4_bin", database);
    case 1054: case 1146:
      return "the tables are not as this version needs them; restore what was dropped or renamed";
    case kNodeNotPrepared:
      return "this Galera node is not in the primary component, or is still joining: it comes back by itself "
             "when it reaches the others; when all nodes say this, see 'Several database servers' in "
             "docs/operating.md";
    case kDeadlock:
      return "another transaction on the same rows came first (on Galera: on another node, certification "
             "failed); it is tried again";
    case kLockWaitTimeout:
      return "another transaction holds the rows, or this Galera node does not catch up with the others; "
             "it is tried again";
    case kReadOnlyServer: case 1792: case 1836:
      return "the server is read-only; set database.host to the primary, or as an administrator: "
             "SET GLOBAL read_only = 0";
    case 1021: case 1114:
      return "the database's disk is full; make room there";
    case 1040: case 1203: case 1226:
      return "raise max_connections there, or lower database.pool_connections";
    case 2002: case 2003: case 2005:
      return "is the server up, and are database.host and port, hosts, or socket, right?";
    default:
      return "";
  }
}

Error no_epoch_row() {
  return Error(ErrorCode::Corrupt,
               "database: table epoch has no row with partition_no 1, by which each write of a leader is "
               "checked; was it deleted? put it back: INSERT INTO epoch (partition_no, value) "
               "SELECT 1, COALESCE(MAX(epoch), 0) FROM loop_connection");
}

}  // namespace rota::master::store
