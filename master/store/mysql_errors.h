// What the server's error numbers mean for us. Pure.
#pragma once

#include "common/base/result.h"

namespace rota::master::store {

inline constexpr int kLockWaitTimeout = 1205;

/// The code for an error number of the server or of the client library (2000 and above).
ErrorCode code_of_sql_error(int number);

}  // namespace rota::master::store
