#include "common/base/result.h"

namespace rota {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return "invalid_argument";
    case ErrorCode::NotFound: return "not_found";
    case ErrorCode::AlreadyExists: return "already_exists";
    case ErrorCode::Conflict: return "conflict";
    case ErrorCode::Denied: return "denied";
    case ErrorCode::NotLeader: return "not_leader";
    case ErrorCode::Unavailable: return "unavailable";
    case ErrorCode::Overloaded: return "overloaded";
    case ErrorCode::TimedOut: return "timed_out";
    case ErrorCode::UnknownOutcome: return "unknown_outcome";
    case ErrorCode::Fenced: return "fenced";
    case ErrorCode::Corrupt: return "corrupt";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Internal: return "internal";
    case ErrorCode::LimitReached: return "limit_reached";
  }
  return "internal";
}

Retry default_retry(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotLeader:
    case ErrorCode::Unavailable:
    case ErrorCode::Overloaded: return Retry::Later;
    case ErrorCode::UnknownOutcome:
    case ErrorCode::TimedOut: return Retry::Unknown;
    default: return Retry::Never;
  }
}

}  // namespace rota
