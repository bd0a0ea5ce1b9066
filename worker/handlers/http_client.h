// The one door to HTTP: calls go out through this interface, so that a test can answer them and the
// library behind it (libcurl) shows nowhere else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/http_call.h"

namespace rota::worker::handlers {

/// Hears of a call while it lasts. Owner: the caller. Thread: the caller's.
class HttpListener {
 public:
  virtual ~HttpListener() = default;
  /// Asked at least ten times a second: true ends the call.
  virtual bool is_cancelled() = 0;
  /// A line of the answer's head, without its end: "HTTP/1.1 200 OK", "Content-Type: ..."; an empty one
  /// after each head (there is one more for each redirect).
  virtual void on_head(std::string_view line) = 0;
  /// Bytes of the answer's body, as they come.
  virtual void on_body(std::string_view bytes) = 0;
};

struct HttpAnswer {
  int status = 0;
  int redirects = 0;                 ///< that were followed
  std::string url;                   ///< the one that answered
  std::int64_t body_bytes = 0;
  Millis took{0};
};

/// Thread: any; a call blocks its caller, and nobody else.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// Any answer is a success here, whatever its status. InvalidArgument: no such call can be made;
  /// Unavailable: no connection, or it broke; TimedOut: connecting or the whole took too long, or it was
  /// cancelled. A call that failed may still have reached the server.
  virtual Result<HttpAnswer> call(const model::HttpCall& call, HttpListener& listener) = 0;
};

/// Speaks HTTP/1.1 and 2 over plain TCP and TLS with libcurl; no proxies, cookies or password files of
/// the machine's are used.
std::unique_ptr<HttpClient> make_http_client();

}  // namespace rota::worker::handlers
