// Who a request comes from, and what that caller may do.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "common/rpc/caller_rules.h"
#include "common/rpc/edge.h"
#include "common/rpc/error_wire.h"
#include "common/rpc/method_rights.h"
#include "common/rpc/peer_address.h"

namespace rota::rpc::test {
namespace {

const char* const kFollower = "192.0.2.1:5000";
const char* const kClient = "198.51.100.7:40000";

thrift::ForwardedCaller told(const std::string& principal, const std::string& address) {
  thrift::ForwardedCaller out;
  out.__set_principal(principal);
  out.__set_address(address);
  return out;
}

thrift::RequestHead head(bool forwarded) {
  thrift::RequestHead out;
  if (forwarded) out.__set_forwarded(true);
  out.__set_caller(told("local", kClient));
  return out;
}

Caller seen_by(const Edge& edge, const thrift::RequestHead& request) {
  Caller out;
  edge.serve("submit", request, [&](const Caller& caller) { out = caller; });
  return out;
}

sockaddr_storage ipv6(const char* text, std::uint16_t port) {
  sockaddr_in6 ip{};
  ip.sin6_family = AF_INET6;
  ip.sin6_port = htons(port);
  REQUIRE(::inet_pton(AF_INET6, text, &ip.sin6_addr) == 1);
  sockaddr_storage out{};
  std::memcpy(&out, &ip, sizeof(ip));
  return out;
}

}  // namespace

TEST_CASE("caller: whoever connects is local, with every right, at the address of the socket") {
  const Caller caller = caller_of_connection(kClient);
  CHECK(caller.principal == "local");
  CHECK(caller.address == kClient);
  CHECK(caller.via.empty());
  CHECK_FALSE(caller.namespaces.has_value());
  CHECK(check_right(caller, "submit"));
  CHECK(check_right(caller, "dispatch"));
}

TEST_CASE("caller: of a forwarded request it is the follower's caller, with the follower beside it") {
  const Edge edge(caller_of_connection(kFollower));
  const Caller caller = seen_by(edge, head(true));
  CHECK(caller.principal == "local");
  CHECK(caller.address == kClient);
  CHECK(caller.via == kFollower);
}

TEST_CASE("caller: words about another caller count for nothing in a request that was not forwarded") {
  const Edge edge(caller_of_connection(kFollower));
  const Caller caller = seen_by(edge, head(false));
  CHECK(caller.address == kFollower);
  CHECK(caller.via.empty());
}

TEST_CASE("caller: a forwarded request of an older master has the follower's own caller") {
  thrift::RequestHead older;
  older.__set_forwarded(true);
  const Caller caller = seen_by(Edge(caller_of_connection(kFollower)), older);
  CHECK(caller.address == kFollower);
  CHECK(caller.via.empty());
}

TEST_CASE("caller: a forged head gives no more than the connection has") {
  Caller connection = caller_of_connection(kFollower);
  connection.roles = {Right::Read};
  connection.namespaces = std::set<std::string>{"shop"};
  SUBCASE("another principal: nothing of it is believed") {
    const Caller caller = caller_of_forwarded(connection, told("admin", kClient));
    CHECK(caller.principal == "local");
    CHECK(caller.address == kFollower);
    CHECK(caller.via.empty());
  }
  SUBCASE("no principal") { CHECK(caller_of_forwarded(connection, told("", kClient)).address == kFollower); }
  SUBCASE("rights and namespaces stay the connection's") {
    const Caller caller = caller_of_forwarded(connection, told("local", kClient));
    CHECK(caller.address == kClient);
    CHECK_FALSE(caller.roles.allow(Right::Run));
    REQUIRE(caller.namespaces.has_value());
    CHECK(*caller.namespaces == std::set<std::string>{"shop"});
  }
  SUBCASE("what is no address reaches no log line") {
    for (const std::string text : {"", "nowhere", "host:0", "host:99999", "a b:1", "x\ny:1", "\x1b[2J:1"}) {
      CAPTURE(text);
      CHECK(caller_of_forwarded(connection, told("local", text)).address == kFollower);
    }
    const std::string endless(1000, 'a');
    CHECK(caller_of_forwarded(connection, told("local", endless + ":1")).address == kFollower);
  }
}

TEST_CASE("caller: what a master tells of its caller comes back as it was") {
  const thrift::ForwardedCaller wire = to_wire(caller_of_connection(kClient));
  CHECK(wire.principal == "local");
  CHECK(wire.address == kClient);
}

TEST_CASE("method rights: nobody may do anything, and a method without a row is denied to everyone") {
  const auto refused = check_right(Caller{}, "list_jobs");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Denied);
  CHECK(refused.error().message == "list_jobs: nobody lacks the right \"read\"");
  const auto unknown = check_right(caller_of_connection(kClient), "a_method_of_tomorrow");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::Denied);
}

TEST_CASE("method rights: a caller who may only read cannot change anything") {
  Caller reader = caller_of_connection(kClient);
  reader.roles = {Right::Read};
  for (const char* method : {"get_job", "list_runs", "read_log", "cluster_status"}) CHECK(check_right(reader, method));
  for (const char* method : {"submit", "apply_jobs", "cancel_run", "drain_worker", "report", "dispatch"}) {
    CAPTURE(method);
    CHECK_FALSE(check_right(reader, method));
  }
}

TEST_CASE("edge: a method that the caller may not call is not begun") {
  bool was_called = false;
  try {
    Edge(Caller{}).serve("submit", [&](const Caller&) { was_called = true; });
    FAIL("it was let in");
  } catch (const thrift::RotaError& error) {
    CHECK(error.kind == thrift::ErrorKind::DENIED);
  }
  CHECK_FALSE(was_called);
}

TEST_CASE("edge: nothing but RotaError leaves a method") {
  const Edge edge(caller_of_connection(kClient));
  CHECK_THROWS_AS(edge.serve("submit", [](const Caller&) { throw to_wire(Error(ErrorCode::NotFound, "x")); }),
                  thrift::RotaError);
  try {
    edge.serve("submit", [](const Caller&) { throw std::runtime_error("broken"); });
    FAIL("it was swallowed");
  } catch (const thrift::RotaError& error) {
    CHECK(error.kind == thrift::ErrorKind::INTERNAL);
    CHECK(error.message == "internal error: broken");
  }
}

TEST_CASE("peer address: IPv4, IPv6, and IPv4 through an IPv6 socket") {
  sockaddr_in ip{};
  ip.sin_family = AF_INET;
  ip.sin_port = htons(40000);
  REQUIRE(::inet_pton(AF_INET, "192.0.2.7", &ip.sin_addr) == 1);
  sockaddr_storage address{};
  std::memcpy(&address, &ip, sizeof(ip));
  CHECK(text_of(address) == "192.0.2.7:40000");
  CHECK(text_of(ipv6("2001:db8::7", 40000)) == "[2001:db8::7]:40000");
  CHECK(text_of(ipv6("::ffff:192.0.2.7", 1)) == "192.0.2.7:1");
  CHECK(text_of(sockaddr_storage{}).empty());
  CHECK(peer_of(-1).empty());
}

}  // namespace rota::rpc::test
