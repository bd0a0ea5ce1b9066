#include "master/store/mysql/database_hosts.h"

#include <doctest/doctest.h>

namespace rota::master::store {
namespace {

const DatabaseHost a{"a", 1}, b{"b", 2}, c{"c", 3};
const MonoTime start{std::chrono::hours{1}};

std::string order_of(const DatabaseHosts& hosts, MonoTime now) {
  std::string order;
  for (const DatabaseHost& host : hosts.in_order(now)) order += host.host;
  return order;
}

TEST_CASE("database hosts: are asked in the order of preference") {
  const DatabaseHosts hosts({a, b, c});
  CHECK(order_of(hosts, start) == "abc");
  CHECK(hosts.in_use().empty());
}

TEST_CASE("database hosts: one that has just failed is asked last for a while") {
  DatabaseHosts hosts({a, b, c});
  hosts.note_failure(a, start);
  CHECK(order_of(hosts, start) == "bca");
  CHECK(order_of(hosts, start + DatabaseHosts::kAskedLastFor - Millis{1}) == "bca");
  CHECK(order_of(hosts, start + DatabaseHosts::kAskedLastFor) == "abc");
}

TEST_CASE("database hosts: when all have failed, all are asked") {
  DatabaseHosts hosts({a, b, c});
  for (const DatabaseHost& host : {b, a, c}) hosts.note_failure(host, start);
  CHECK(order_of(hosts, start) == "abc");
}

TEST_CASE("database hosts: one that took a connection has its place again") {
  DatabaseHosts hosts({a, b, c});
  hosts.note_failure(a, start);
  hosts.note_use(b);
  CHECK(hosts.in_use() == "b:2");
  CHECK(order_of(hosts, start) == "bca");
  hosts.note_use(a);
  CHECK(order_of(hosts, start) == "abc");
  CHECK(hosts.in_use() == "a:1");
}

TEST_CASE("database hosts: one that answers, but is behind, is told of, unless there is no other") {
  DatabaseHosts hosts({a, b});
  hosts.note_failure(a, start, 2013);
  CHECK(hosts.times_behind(a) == 0);
  hosts.note_failure(a, start, 1290);
  CHECK(hosts.times_behind(a) == 1);
  CHECK(hosts.times_behind(b) == 0);
  DatabaseHosts alone({a});
  alone.note_failure(a, start, 1290);
  CHECK(alone.times_behind(a) == 0);
}

TEST_CASE("database hosts: are named with or without a port") {
  CHECK(database_host_named("db1", 3306) == DatabaseHost{"db1", 3306});
  CHECK(database_host_named("db1:3307", 3306) == DatabaseHost{"db1", 3307});
}

TEST_CASE("database hosts: what makes a server no use, and what does not") {
  for (const int error : {1047, 1053, 1290, 2003, 2013}) CHECK(is_host_unusable(error));
  for (const int error : {0, 1062, 1142, 1205, 1213, 1317, 1927}) CHECK_FALSE(is_host_unusable(error));
}

}  // namespace
}  // namespace rota::master::store
