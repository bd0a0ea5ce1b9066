// RotaError, the one exception of every method, from and to our Error.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common_types.h"

namespace rota::rpc {

/// An Error with the facts that only a call knows.
struct CallError {
  Error error;
  /// host:port of the leader, if a NotLeader answer named it.
  std::string leader;
  /// The pause that the server asked for before a repeat; 0: none.
  Millis retry_after{0};
  /// The port refused the connection: no process listens there.
  bool refused = false;
  /// The peer's handler answered this error; false: the connection failed.
  bool answered = false;
};

template <typename T>
using CallResult = tl::expected<T, CallError>;

thrift::ErrorKind kind_of(ErrorCode code);
/// An unknown number (a newer peer) is Internal.
ErrorCode code_of(thrift::ErrorKind kind);

CallError from_wire(const thrift::RotaError& error);
thrift::RotaError to_wire(const Error& error, const std::string& leader = {},
                          Millis retry_after = Millis{0});
thrift::RotaError to_wire(const CallError& error);

}  // namespace rota::rpc
