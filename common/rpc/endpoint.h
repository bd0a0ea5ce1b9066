// The address of a server: "host:port" as people and configuration files write it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace rota::rpc {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Endpoint&) const = default;
};

/// "127.0.0.1:7400", or "[::1]:7400".
std::string to_string(const Endpoint& endpoint);
/// InvalidArgument names what is wrong; the port is 1 to 65535.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace rota::rpc
