#include "master/office/elector_in_force.h"

#include <doctest/doctest.h>

#include "master/office/master_node.h"
#include "master/office/set_elector.h"

using namespace rota;
using namespace rota::master;

namespace {

bool is_told_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("elector in force: an empty name is ZooKeeper's") {
  CHECK(why_stand_by("zookeeper", "").empty());
  CHECK(why_stand_by("zookeeper", "zookeeper").empty());
  CHECK(why_stand_by("etcd", "etcd").empty());
  CHECK_FALSE(why_stand_by("etcd", "").empty());
}

TEST_CASE("elector in force: a master of another one stands by, and says which, and what to do") {
  const std::string why = why_stand_by("etcd", "mysql");
  CHECK(is_told_in(why, "the database names the elector 'mysql', and this master is configured for 'etcd'"));
  CHECK(is_told_in(why, "set `elector: mysql`"));
  CHECK(is_told_in(why, "rota-master --set-elector etcd --config FILE"));
}

TEST_CASE("elector in force: nobody stands before the database was asked, and a failed look changes nothing") {
  Result<std::string> named = fail(ErrorCode::Unavailable, "silent");
  ElectorInForce in_force("mysql", [&] { return named; });
  CHECK_FALSE(in_force.why_stand_by().empty());
  CHECK_FALSE(in_force.look());
  CHECK_FALSE(in_force.check());
  named = "mysql";
  CHECK(in_force.check());
  CHECK(in_force.why_stand_by().empty());
  named = fail(ErrorCode::Unavailable, "silent");
  CHECK(in_force.check().error().code == ErrorCode::Unavailable);
  CHECK(in_force.why_stand_by().empty());
  named = "etcd";
  CHECK(in_force.check().error().code == ErrorCode::Fenced);
  CHECK_FALSE(in_force.why_stand_by().empty());
}

TEST_CASE("elector in force: a master's node names its elector; one without a name is of an older version") {
  CHECK(elector_in(node_text({"m1", {"h", 1}}, "etcd")) == "etcd");
  CHECK(elector_in(R"({"id": "m1"})").empty());
  CHECK(elector_in("damaged").empty());
}

TEST_CASE("set elector: says before what happens, and warns when nobody would lead") {
  const ElectorChange good{"zookeeper", "etcd", {"m1", "m2"}, {"m3"}, {}};
  CHECK(is_told_in(words_before(good), "from 'zookeeper' to 'etcd'"));
  CHECK(is_told_in(words_before(good), "takes office next: m1, m2"));
  CHECK(is_told_in(words_before(good), "Stands by until it is configured for 'etcd' and restarted: m3"));
  const ElectorChange bad{"zookeeper", "etcd", {}, {"m3"}, {}};
  CHECK(is_told_in(words_before(bad), "NOBODY LEADS"));
  CHECK(is_told_in(words_after(bad), "until then nobody leads"));
}
