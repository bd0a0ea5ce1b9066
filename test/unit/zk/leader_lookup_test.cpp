#include "common/zk/leader_lookup.h"

#include <doctest/doctest.h>

#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;

namespace {

struct Fixture {
  FakeServer server;
  EventLog log;
  Paths paths{"c"};
  std::unique_ptr<Client> client = std::move(*server.factory()(ClientOptions{}, log.handler()));
  Fixture() { REQUIRE(ensure_cluster(*client, paths).has_value()); }
  void stands(char tag, const LeaderHint* hint) {
    const std::string start = paths.election() + "/n_" + std::string(16, tag) + "_";
    REQUIRE(client->create(start, candidate_data("m", hint), CreateMode::EphemeralSequential)
                .has_value());
  }
};

const LeaderHint kOne{Epoch{7}, "127.0.0.1", 7101};
const LeaderHint kTwo{Epoch{6}, "127.0.0.1", 7102};

}  // namespace

TEST_CASE("leader lookup: the lowest candidate with a hint leads") {
  Fixture f;
  f.stands('b', nullptr);
  CHECK(find_leader(*f.client, f.paths).error().code == ErrorCode::NotFound);
  CHECK(find_leader(*f.client, f.paths).error().retry == Retry::Later);
  f.stands('c', &kOne);
  f.stands('a', &kTwo);
  CHECK(*find_leader(*f.client, f.paths) == kOne);
}

TEST_CASE("leader lookup: a candidate that no session owns does not lead, whatever its data") {
  Fixture f;
  f.server.make_by_hand(f.paths.election() + "/n_0000000000000001_0000000000", candidate_data("old", &kTwo));
  CHECK(find_leader(*f.client, f.paths).error().code == ErrorCode::NotFound);
  f.stands('c', &kOne);
  CHECK(*find_leader(*f.client, f.paths) == kOne);
}

TEST_CASE("leader lookup: when sequences repeat, the candidate that was created first comes first") {
  Fixture f;
  f.server.set_next_sequence(f.paths.election(), 2147483647);
  f.stands('f', &kOne);
  f.server.set_next_sequence(f.paths.election(), 2147483647);
  f.stands('a', &kTwo);
  CHECK(*find_leader(*f.client, f.paths) == kOne);
}

TEST_CASE("leader lookup: an unknown cluster has no leader") {
  Fixture f;
  CHECK(find_leader(*f.client, Paths("other")).error().code == ErrorCode::NotFound);
}

TEST_CASE("leader lookup: only complete hints count") {
  CHECK(*hint_in(candidate_data("m", &kOne)) == kOne);
  for (const char* data : {"", "[]", "{}", R"({"epoch":1,"host":"h"})",
                           R"({"epoch":"1","host":"h","port":1})",
                           R"({"epoch":1,"host":"h","port":70000})",
                           R"({"epoch":1,"host":"h","port":-1})"}) {
    CAPTURE(data);
    CHECK_FALSE(hint_in(data).has_value());
  }
}

TEST_CASE("leader lookup: caches a result for max_age, and drops it on forget") {
  Fixture f;
  Session session(f.server.factory(), quick_session());
  LeaderLookup lookup(session, f.paths, Millis{60'000});
  CHECK(lookup.find().error().code == ErrorCode::Unavailable);
  session.start();
  REQUIRE(session.wait_connected(testing::kPatience).has_value());
  f.stands('a', &kOne);
  CHECK(*lookup.find() == kOne);
  f.server.delete_by_hand(f.paths.election() + "/" + f.server.children(f.paths.election())[0]);
  CHECK(*lookup.find() == kOne);
  lookup.forget();
  CHECK(lookup.find().error().code == ErrorCode::NotFound);
}
