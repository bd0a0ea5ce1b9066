#include "common/zk/cluster_nodes.h"

#include <doctest/doctest.h>

#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::zk;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;

namespace {

struct Fixture {
  FakeServer server;
  EventLog log;
  Paths paths{"c"};
  std::unique_ptr<Client> client = std::move(*server.factory()(ClientOptions{}, log.handler()));
  Fixture() { REQUIRE(ensure_cluster(*client, paths).has_value()); }
};

}  // namespace

TEST_CASE("cluster nodes: a new cluster has epoch 0 and no uuid") {
  Fixture f;
  CHECK(read_epoch(*f.client, f.paths)->epoch == Epoch{0});
  CHECK_FALSE(read_epoch(*f.client, f.paths)->version.has_value());
  CHECK_FALSE(read_cluster_uuid(*f.client, f.paths)->has_value());
}

TEST_CASE("cluster nodes: the epoch is set only if the node is as it was read") {
  Fixture f;
  const auto none = *read_epoch(*f.client, f.paths);
  REQUIRE(write_epoch(*f.client, f.paths, Epoch{1}, none).has_value());
  const auto again = write_epoch(*f.client, f.paths, Epoch{1}, none);
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().code == ErrorCode::Conflict);

  const auto one = *read_epoch(*f.client, f.paths);
  CHECK(one.epoch == Epoch{1});
  REQUIRE(write_epoch(*f.client, f.paths, Epoch{2}, one).has_value());
  CHECK(write_epoch(*f.client, f.paths, Epoch{2}, one).error().code == ErrorCode::Conflict);
  CHECK(read_epoch(*f.client, f.paths)->epoch == Epoch{2});
}

TEST_CASE("cluster nodes: after a lost answer to the epoch's write, it reads the node") {
  Fixture f;
  const auto none = *read_epoch(*f.client, f.paths);
  SUBCASE("it stands") {
    f.server.lose_next(Op::Create, Loss::Answer);
    CHECK(write_epoch(*f.client, f.paths, Epoch{1}, none).has_value());
  }
  SUBCASE("it never arrived") {
    f.server.lose_next(Op::Create, Loss::Request);
    CHECK(write_epoch(*f.client, f.paths, Epoch{1}, none).error().code == ErrorCode::Conflict);
  }
  SUBCASE("it never arrived, and a rival wrote the same number") {
    REQUIRE(write_epoch(*f.client, f.paths, Epoch{1}, none).has_value());
    const auto one = *read_epoch(*f.client, f.paths);
    REQUIRE(write_epoch(*f.client, f.paths, Epoch{2}, one).has_value());
    f.server.lose_next(Op::Set, Loss::Request);
    CHECK(write_epoch(*f.client, f.paths, Epoch{2}, one).error().code == ErrorCode::Conflict);
  }
  SUBCASE("the look-up fails too") {
    f.server.lose_next(Op::Create, Loss::Answer);
    f.server.lose_next(Op::Get, Loss::Request);
    CHECK(write_epoch(*f.client, f.paths, Epoch{1}, none).error().code ==
          ErrorCode::UnknownOutcome);
  }
}

TEST_CASE("cluster nodes: an epoch that is no number is reported as corrupt") {
  Fixture f;
  for (const char* data : {"", "x", "-1 abc", "1x abc"}) {
    CAPTURE(data);
    f.server.delete_by_hand(f.paths.epoch());
    REQUIRE(f.client->create(f.paths.epoch(), data, CreateMode::Persistent).has_value());
    const auto epoch = read_epoch(*f.client, f.paths);
    REQUIRE_FALSE(epoch.has_value());
    CHECK(epoch.error().code == ErrorCode::Corrupt);
  }
}

TEST_CASE("cluster nodes: a uuid is written once, and another one is a conflict") {
  Fixture f;
  CHECK(create_cluster_uuid(*f.client, f.paths, "u1").has_value());
  CHECK(create_cluster_uuid(*f.client, f.paths, "u1").has_value());
  CHECK(create_cluster_uuid(*f.client, f.paths, "u2").error().code == ErrorCode::Conflict);
  CHECK(**read_cluster_uuid(*f.client, f.paths) == "u1");
}

TEST_CASE("paths: accepts only plain cluster names") {
  CHECK(is_cluster_name("prod-1.eu_west"));
  for (const char* name : {"", ".", "..", "a/b", "a b", "ä"}) {
    CAPTURE(name);
    CHECK_FALSE(is_cluster_name(name));
  }
  CHECK_FALSE(is_cluster_name(std::string(65, 'a')));
}
