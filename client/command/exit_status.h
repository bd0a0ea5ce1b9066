// The exit statuses of `rota`. Scripts may rely on them; `rota --help` prints them too.
#pragma once

#include "common/base/result.h"

namespace rota::client {

enum ExitStatus : int {
  kOk = 0,
  kFailed = 1,          ///< something else went wrong; or `rota verify` found a broken promise
  kUsage = 2,           ///< wrong arguments or a wrong file
  kNotFound = 3,
  kDenied = 4,
  kConflict = 5,
  kTimedOut = 6,        ///< waiting took longer than allowed; `rota verify` could not check all in its time
  kNotReachable = 7,    ///< no leader, or no master answers
  kRunFailed = 10,      ///< the awaited run did not succeed
  kWouldChange = 11,    ///< a dry run found changes
  kLimitReached = 13,   ///< a limit of the namespace is reached; later it may work
  kRunSkipped = 12,     ///< the requested run was skipped: another run of its job was unfinished
};

struct ExitMeaning {
  int status;
  const char* meaning;
};

/// For help and man pages.
inline constexpr ExitMeaning kExitMeanings[] = {
    {kOk, "ok"},
    {kFailed, "failed (verify: a promise is broken)"},
    {kUsage, "wrong usage or input, or a question was not answered with yes"},
    {kNotFound, "not found"},
    {kDenied, "denied"},
    {kConflict, "conflict"},
    {kTimedOut, "timed out waiting (verify: not everything was checked)"},
    {kNotReachable, "no leader or not reachable"},
    {kRunFailed, "the awaited run did not succeed"},
    {kWouldChange, "a dry run found changes"},
    {kRunSkipped, "it was skipped: another run of its job is unfinished"},
    {kLimitReached, "a limit of the namespace is reached; later it may work"},
};

constexpr ExitStatus exit_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::Unsupported: return kUsage;
    case ErrorCode::NotFound: return kNotFound;
    case ErrorCode::Denied: return kDenied;
    case ErrorCode::Conflict:
    case ErrorCode::AlreadyExists: return kConflict;
    case ErrorCode::LimitReached: return kLimitReached;
    case ErrorCode::TimedOut: return kTimedOut;
    case ErrorCode::NotLeader:
    case ErrorCode::Unavailable:
    case ErrorCode::Overloaded:
    case ErrorCode::UnknownOutcome: return kNotReachable;
    default: return kFailed;
  }
}

}  // namespace rota::client
