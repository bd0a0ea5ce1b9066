#include "common/rpc/caller_rules.h"

#include <algorithm>
#include <utility>

#include "common/rpc/endpoint.h"

namespace rota::rpc {
namespace {

constexpr std::size_t kLongestAddress = 128;

/// It goes into log lines: host:port without blanks or control characters.
bool is_address(const std::string& text) {
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  return text.size() <= kLongestAddress && std::ranges::all_of(text, is_plain) &&
         parse_endpoint(text).has_value();
}

}  // namespace

Caller caller_of_connection(std::string address) {
  Caller out;
  out.principal = kEveryone;
  out.roles = Roles::all();
  out.namespaces.reset();
  out.address = std::move(address);
  return out;
}

Caller caller_of_forwarded(const Caller& connection, const thrift::ForwardedCaller& told) {
  Caller out = connection;
  if (told.principal != connection.principal || !is_address(told.address)) return out;
  out.address = told.address;
  out.via = connection.address;
  return out;
}

thrift::ForwardedCaller to_wire(const Caller& caller) {
  thrift::ForwardedCaller out;
  out.__set_principal(caller.principal);
  out.__set_address(caller.address);
  return out;
}

}  // namespace rota::rpc
