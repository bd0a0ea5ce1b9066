#include "master/api/life_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master;
using core::WorkerLife;

namespace {

WorkerLife a_life(const std::string& incarnation, std::int64_t joined, std::int64_t left = 0) {
  WorkerLife life;
  life.key = {"w1", incarnation};
  life.joined = wall_from_ms(joined);
  if (left != 0) {
    life.left = wall_from_ms(left);
    life.why_left = "its node is gone";
  }
  return life;
}

core::Snapshot with(const std::string& incarnation, const std::string& state = "online") {
  core::Snapshot snapshot;
  snapshot.workers.emplace_back().info.change().key = {"w1", incarnation};
  snapshot.workers.back().state = state;
  return snapshot;
}

}  // namespace

TEST_CASE("lives: an outage of ZooKeeper is no new life of a worker") {
  // The second name sorts before the first; no leader saw the first one leave.
  const auto lives = api::lives_of_processes({a_life("h1-f9", 100), a_life("h1-84", 100), a_life("h1-aa", 50, 60)},
                                             nullptr);
  REQUIRE(lives.size() == 2);
  CHECK(lives[0].joined == wall_from_ms(100));
  CHECK_FALSE(lives[0].left);
  CHECK(lives[0].why_left == "registered 2 times: its session with ZooKeeper had ended");
  CHECK(lives[1].key.incarnation == "h1-aa");
  CHECK(lives[1].left == wall_from_ms(60));
}

TEST_CASE("lives: the name that is here is the one of its process") {
  const core::Snapshot snapshot = with("h1-84");
  for (const std::int64_t left : {0, 170}) {
    const auto lives = api::lives_of_processes({a_life("h1-f9", 100, left), a_life("h1-84", 100)}, &snapshot);
    REQUIRE(lives.size() == 1);
    CHECK(lives[0].key.incarnation == "h1-84");
    CHECK_FALSE(lives[0].left);
  }
}

TEST_CASE("lives: who is followed by another has left, also when no leader saw it") {
  const auto lives = api::lives_of_processes({a_life("h1-b", 200), a_life("h1-a", 100)}, nullptr);
  REQUIRE(lives.size() == 2);
  CHECK_FALSE(lives[0].left);
  CHECK(lives[1].left == wall_from_ms(200));
  CHECK(lives[1].why_left == "no leader saw it leave");
}

TEST_CASE("lives: who is not here has left, and nobody invents when") {
  const core::Snapshot snapshot = with("h1-a", "offline");
  const auto unseen = api::lives_of_processes({a_life("h1-a", 100)}, &snapshot);
  CHECK_FALSE(unseen[0].left);
  CHECK(unseen[0].why_left == "no leader saw it leave");
  const auto twice = api::lives_of_processes({a_life("h1-a", 100), a_life("h1-b", 100, 150)}, &snapshot);
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].left == wall_from_ms(150));
}

TEST_CASE("lives: two homes that began in one millisecond are two lives") {
  CHECK(api::lives_of_processes({a_life("h1-a", 100), a_life("h2-a", 100)}, nullptr).size() == 2);
}
