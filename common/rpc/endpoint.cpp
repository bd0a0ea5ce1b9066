#include "common/rpc/endpoint.h"

#include <fmt/format.h>

#include <charconv>

#include "common/base/utf8.h"

namespace rota::rpc {

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
                  : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is no address; write host:port", quoted_text(text, 200)));
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the port in \"{}\" is no number from 1 to 65535",
                            text.substr(0, 200)));
  }
  return Endpoint{std::string(host), port};
}

}  // namespace rota::rpc
