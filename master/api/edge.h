// From results to the one exception that a service's method may throw.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.h"
#include "common/rpc/error_wire.h"

namespace rota::master::api {

/// How much of a given reason is kept; the rest is cut off between characters.
inline constexpr std::size_t kMaxWhyBytes = 200;

inline Error unexpected_reply() {
  return Error(ErrorCode::Internal, "the loop gave an unexpected kind of reply");
}

/// The value, or the error as an exception. In methods of services.h only.
template <typename T>
T value_or_throw(rpc::CallResult<T> result) {
  if (!result) throw rpc::to_wire(result.error());
  return std::move(*result);
}

inline void value_or_throw(rpc::CallResult<void> result) {
  if (!result) throw rpc::to_wire(result.error());
}

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw rpc::to_wire(result.error());
  return std::move(*result);
}

inline void value_or_throw(const Result<void>& result) {
  if (!result) throw rpc::to_wire(result.error());
}

}  // namespace rota::master::api
