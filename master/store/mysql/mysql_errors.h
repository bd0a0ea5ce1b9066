// What the server's error numbers mean for us. Pure.
#pragma once

#include <string>

#include "common/base/result.h"

namespace rota::master::store {

inline constexpr int kLockWaitTimeout = 1205;
inline constexpr int kDeadlock = 1213;  ///< also, on Galera: the transaction lost against another node's
inline constexpr int kNoSuchSavepoint = 1305;
inline constexpr int kNodeNotPrepared = 1047;
inline constexpr int kReadOnlyServer = 1290;
inline constexpr int kAccessDenied = 1045;

/// The code for an error number of the server or of the client library (2000 and above).
ErrorCode code_of_sql_error(int number);

/// What the operator can do about it, as a sentence's end: "as an administrator: GRANT ...". Empty when the
/// error is none that an operator can fix. `message` is the server's own.
std::string remedy_for_sql_error(int number, const std::string& message, const std::string& database);

/// The row that fences every write of a leader is gone; names the statement that puts it back.
Error no_epoch_row();

}  // namespace rota::master::store
