// Why a call of the handler `http` has no answer, or no whole one, in words: what was asked of whom, what
// went wrong, and where to look. Pure; only the adapter knows the library's own codes.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/http_call.h"

namespace rota::worker::handlers {

struct CallTrouble {
  enum class What {
    NoAddress,         ///< for the host's name
    NoConnection,
    TimedOut,          ///< `took` tells by which of the two limits
    NoTls,
    NotTrusted,        ///< the server's certificate
    BadCaFile,
    BadUrl,            ///< the job's own
    BadRedirect,       ///< no call can go there
    TooManyRedirects,
    NoHttp,            ///< somebody answers, in another protocol
    HeadLineTooLong,
    HeadTooLong,
    TrailerTooLong,
    NoAnswer,          ///< the connection was closed instead
    CutShort,
    BrokenRules,       ///< of HTTP, by the server
    NotSent,
    Other,
  };
  What what = What::Other;
  std::string detail;    ///< the library's own words; may be empty
  std::string last_url;  ///< the one asked last
  int redirects = 0;     ///< followed until then
  Millis took{0};
};

/// What the library accepts; beyond it a call fails. Larger answers belong in the body.
inline constexpr std::int64_t kMostHeadLineBytes = 100 << 10;
inline constexpr std::int64_t kMostHeadBytes = 300 << 10;
inline constexpr std::int64_t kMostTrailerBytes = 64 << 10;

/// InvalidArgument: the job's own parameters are wrong; TimedOut; else Unavailable.
Error error_of(const CallTrouble& trouble, const model::HttpCall& call);

}  // namespace rota::worker::handlers
