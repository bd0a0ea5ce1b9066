#include "common/rpc/error_wire.h"

#include <algorithm>
#include <utility>

namespace rota::rpc {
namespace {

constexpr std::pair<ErrorCode, thrift::ErrorKind> kKinds[] = {
    {ErrorCode::InvalidArgument, thrift::ErrorKind::INVALID_ARGUMENT},
    {ErrorCode::NotFound, thrift::ErrorKind::NOT_FOUND},
    {ErrorCode::AlreadyExists, thrift::ErrorKind::ALREADY_EXISTS},
    {ErrorCode::Conflict, thrift::ErrorKind::CONFLICT},
    {ErrorCode::Denied, thrift::ErrorKind::DENIED},
    {ErrorCode::NotLeader, thrift::ErrorKind::NOT_LEADER},
    {ErrorCode::Unavailable, thrift::ErrorKind::UNAVAILABLE},
    {ErrorCode::Overloaded, thrift::ErrorKind::OVERLOADED},
    {ErrorCode::TimedOut, thrift::ErrorKind::TIMED_OUT},
    {ErrorCode::UnknownOutcome, thrift::ErrorKind::UNKNOWN_OUTCOME},
    {ErrorCode::Fenced, thrift::ErrorKind::FENCED},
    {ErrorCode::Corrupt, thrift::ErrorKind::CORRUPT},
    {ErrorCode::Unsupported, thrift::ErrorKind::UNSUPPORTED},
    {ErrorCode::Internal, thrift::ErrorKind::INTERNAL},
    {ErrorCode::LimitReached, thrift::ErrorKind::LIMIT_REACHED},
};

constexpr Millis kLongestPause{60'000};

}  // namespace

thrift::ErrorKind kind_of(ErrorCode code) {
  const auto* found = std::ranges::find(kKinds, code, &std::pair<ErrorCode, thrift::ErrorKind>::first);
  return found == std::end(kKinds) ? thrift::ErrorKind::INTERNAL : found->second;
}

ErrorCode code_of(thrift::ErrorKind kind) {
  const auto* found =
      std::ranges::find(kKinds, kind, &std::pair<ErrorCode, thrift::ErrorKind>::second);
  return found == std::end(kKinds) ? ErrorCode::Internal : found->first;
}

CallError from_wire(const thrift::RotaError& error) {
  CallError out;
  out.error = Error(code_of(error.kind), error.message);
  out.leader = error.leader;
  out.retry_after = std::clamp(Millis{error.retry_after_ms}, Millis{0}, kLongestPause);
  out.answered = true;
  return out;
}

thrift::RotaError to_wire(const Error& error, const std::string& leader, Millis retry_after) {
  thrift::RotaError out;
  out.__set_kind(kind_of(error.code));
  out.__set_message(error.message);
  out.__set_leader(leader);
  out.__set_retry_after_ms(static_cast<std::int32_t>(std::min(retry_after, kLongestPause).count()));
  return out;
}

thrift::RotaError to_wire(const CallError& error) {
  return to_wire(error.error, error.leader, error.retry_after);
}

}  // namespace rota::rpc
