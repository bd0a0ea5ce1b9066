// The edge to Thrift, where results become the one exception that a method may throw.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "common/base/log.h"
#include "common/base/result.h"
#include "common/rpc/error_wire.h"

namespace rota::master::api {

/// What is kept of the reason that somebody gave; the rest is cut off at a character.
inline constexpr std::size_t kMaxWhyBytes = 200;

/// Runs a method's body so that nothing but RotaError leaves it.
template <typename Body>
void at_edge(const char* method, Body body) {
  try {
    body();
  } catch (const thrift::RotaError&) {
    throw;
  } catch (const std::exception& thrown) {
    log_error("api", "a method failed in an unforeseen way",
              {{"method", method}, {"what", thrown.what()}});
    throw rpc::to_wire(Error(ErrorCode::Internal, std::string("internal error: ") + thrown.what()));
  }
}

/// The value, or the error as an exception. Within at_edge only.
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
