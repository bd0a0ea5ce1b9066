// Turns the parameters of a job of the handler `http` into one HTTP request. Pure. The same rules check
// a definition when it is applied and a run's parameters when it starts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::model {

inline constexpr std::size_t kMaxUrlBytes = 8192;

/// Status codes from low to high, both included.
struct StatusRange {
  int low = 200;
  int high = 299;
  bool operator==(const StatusRange&) const = default;
};

struct HttpCall {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  ///< name and value, sorted by name
  std::string body;
  bool has_body = false;                 ///< an empty body is sent too
  std::vector<StatusRange> expected{{200, 299}};
  Millis timeout{60'000};                ///< of the whole call
  Millis connect_timeout{10'000};
  int redirects = 0;                     ///< follows at most this many; 0: a redirect is a normal answer
  std::string ca_file;                   ///< on the worker; empty: the system's authorities

  bool expects(int status) const;
  bool operator==(const HttpCall&) const = default;
};

/// Reads url, method, header.NAME, body, expect ("200-299,304"), timeout, connect_timeout, redirects and
/// ca_file. InvalidArgument lists all problems at once: what is wrong, and what is allowed. An unknown
/// name is refused, with the nearest known one.
Result<HttpCall> http_call_of(const Parameters& parameters);

/// "200-299, 304", for messages.
std::string text_of(const std::vector<StatusRange>& ranges);

}  // namespace rota::model
