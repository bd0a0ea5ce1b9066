#include "common/zk/protected_create.h"

#include <doctest/doctest.h>

#include "common/zk/paths.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::zk;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;

namespace {

const std::string kFolder = "/e";
const std::string kTag = "0123456789abcdef";

struct Fixture {
  FakeServer server;
  EventLog log;
  std::unique_ptr<Client> client = connect();

  std::unique_ptr<Client> connect() {
    auto made = server.factory()(ClientOptions{}, log.handler());
    REQUIRE(made.has_value());
    REQUIRE(ensure_folder(**made, kFolder).has_value());
    return std::move(*made);
  }
  Result<std::string> make() { return protected_create(*client, kFolder, "n_", kTag, "data"); }
};

}  // namespace

TEST_CASE("protected create: an answered create needs no second look") {
  Fixture f;
  CHECK(*f.make() == "n_" + kTag + "_0000000000");
  CHECK(f.server.operations(Op::List) == 0);
}

TEST_CASE("protected create: a lost answer makes no ghost") {
  Fixture f;
  SUBCASE("the node was made") {
    f.server.lose_next(Op::Create, Loss::Answer);
    CHECK(*f.make() == "n_" + kTag + "_0000000000");
  }
  SUBCASE("the request never arrived") {
    f.server.lose_next(Op::Create, Loss::Request);
    CHECK(*f.make() == "n_" + kTag + "_0000000000");
  }
  SUBCASE("the request was still under way when the answer was given up") {
    f.server.lose_next(Op::Create, Loss::Late);
    CHECK(*f.make() == "n_" + kTag + "_0000000000");
  }
  REQUIRE(f.client->sync("/").has_value());  // whatever was under way has arrived now
  CHECK(f.server.children(kFolder).size() == 1);
}

TEST_CASE("protected create: when the look fails too, the outcome is unknown, and adopting resolves it") {
  Fixture f;
  f.server.lose_next(Op::Create, Loss::Answer);
  f.server.lose_next(Op::List, Loss::Request);
  const auto made = f.make();
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == ErrorCode::UnknownOutcome);
  CHECK(*adopt_tagged(*f.client, kFolder, "n_", kTag) == "n_" + kTag + "_0000000000");
}

TEST_CASE("protected create: a node of another session is never ours") {
  Fixture f;
  const auto other = f.connect();
  REQUIRE(protected_create(*other, kFolder, "n_", kTag, "").has_value());
  const auto adopted = adopt_tagged(*f.client, kFolder, "n_", kTag);
  REQUIRE_FALSE(adopted.has_value());
  CHECK(adopted.error().code == ErrorCode::NotFound);
  CHECK(f.server.children(kFolder).size() == 1);
}

TEST_CASE("protected create: doubles are removed, the first is kept") {
  Fixture f;
  REQUIRE(f.make().has_value());
  REQUIRE(f.make().has_value());
  CHECK(f.server.children(kFolder).size() == 2);
  CHECK(*adopt_tagged(*f.client, kFolder, "n_", kTag) == "n_" + kTag + "_0000000000");
  CHECK(f.server.children(kFolder).size() == 1);
}

TEST_CASE("protected create: a clear refusal is passed on") {
  Fixture f;
  const auto made = protected_create(*f.client, "/none", "n_", kTag, "");
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == ErrorCode::NotFound);
}
