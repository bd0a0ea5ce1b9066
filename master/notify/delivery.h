// How a notification reaches one receiver: by an HTTP POST, or by a command that gets it as its standard
// input.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::notify {

/// Thread: any; a call blocks its caller for the timeout at most.
class DeliveryRoute {
 public:
  virtual ~DeliveryRoute() = default;
  /// Gives what the receiver answered, for people, when it has accepted the text. Unavailable or TimedOut
  /// when not: it may have got it all the same.
  virtual Result<std::string> deliver(const std::string& json, Millis timeout, std::stop_token stop) = 0;
};

/// POST; any status from 200 to 299 accepts it. No redirects, no proxies.
std::unique_ptr<DeliveryRoute> http_route(std::string url);
/// Exit status 0 accepts it. The process must ignore SIGPIPE: a command need not read. The whole process
/// group is killed at the timeout, and what is left of it after the end.
std::unique_ptr<DeliveryRoute> command_route(std::vector<std::string> argv);

}  // namespace rota::master::notify
