#include "master/store/mysql_errors.h"

namespace rota::master::store {

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
    case 1053:  // server shuts down
    case 1114:  // table full
    case 1158: case 1159: case 1160: case 1161:  // packets
    case 1180:  // error during COMMIT
    case 1203:  // too many connections of this account
    case kLockWaitTimeout:
    case 1213:  // deadlock
    case 1290: case 1792: case 1836:  // read only
    case 1317:  // query interrupted
    case 1927:  // connection was killed
    case 3024:  // statement took too long
    case 1969:
      return ErrorCode::Unavailable;
    default:
      return number >= 2000 && number < 3000 ? ErrorCode::Unavailable : ErrorCode::Internal;
  }
}

}  // namespace rota::master::store
