#include "master/upkeep/clock_guard.h"

#include <doctest/doctest.h>

using namespace rota;
using master::ClockGuard;

namespace {

struct Fixture {
  FakeClock host;
  ClockGuard guard{host};
  WallTime database = host.wall();

  void pass(Millis by) {
    host.advance(by);
    database += by;
  }
  void look(Millis took = Millis{0}) {
    const MonoTime before = host.mono();
    pass(took);
    guard.look(database, before, host.mono());
  }
};

}  // namespace

TEST_CASE("clock_guard: two clocks that agree are the host's clock") {
  Fixture f;
  CHECK(f.guard.wall() == f.host.wall());
  f.look();
  f.pass(Millis{700});
  CHECK(f.guard.wall() == f.host.wall());
  CHECK_FALSE(f.guard.skew());
}

TEST_CASE("clock_guard: a jump ahead is not followed, before any look tells") {
  Fixture f;
  f.look();
  f.host.jump_wall(std::chrono::hours{24});
  CHECK(f.guard.wall() == f.database);
  f.pass(Millis{500});
  CHECK(f.guard.wall() == f.database);
  f.look();
  REQUIRE(f.guard.skew());
  CHECK(*f.guard.skew() == std::chrono::hours{24});
}

TEST_CASE("clock_guard: a jump back is told at the next look") {
  Fixture f;
  f.look();
  f.host.jump_wall(Millis{-2001});
  CHECK(f.guard.wall() == f.database);
  f.look();
  REQUIRE(f.guard.skew());
  CHECK(*f.guard.skew() == Millis{-2001});
}

TEST_CASE("clock_guard: clocks at the edge of the tolerance do not flap") {
  Fixture f;
  f.host.jump_wall(Millis{2001});
  f.look();
  CHECK(f.guard.skew());
  f.host.jump_wall(Millis{-200});
  f.look();
  CHECK(f.guard.skew());
  f.host.jump_wall(Millis{-400});
  f.look();
  CHECK_FALSE(f.guard.skew());
  f.host.jump_wall(Millis{300});
  f.look();
  CHECK_FALSE(f.guard.skew());
}

TEST_CASE("clock_guard: a slow answer says nothing") {
  Fixture f;
  f.look();
  f.database -= Millis{5000};
  f.look(Millis{1001});
  CHECK_FALSE(f.guard.skew());
  f.look(Millis{1000});
  CHECK(f.guard.skew());
}

TEST_CASE("clock_guard: a host that began far ahead goes no further than the tolerance") {
  Fixture f;
  f.host.jump_wall(std::chrono::hours{24});
  f.look();
  CHECK(f.guard.wall() == f.database + Millis{2000});
  CHECK(f.guard.doubt().skew);
}

TEST_CASE("clock_guard: a database that steps along with its host confirms nothing, on another host it does in time") {
  for (const bool elsewhere : {false, true}) {
    Fixture f;
    f.guard.set_database_elsewhere(elsewhere);
    f.look();
    const WallTime before = f.database;
    f.host.jump_wall(std::chrono::hours{1});
    f.database += std::chrono::hours{1};
    for (int i = 0; i < 100; ++i) {
      f.pass(Millis{500});
      f.look();
    }
    CHECK_FALSE(f.guard.skew());
    CHECK(f.guard.doubt().step);
    CHECK(f.guard.wall() == before + Millis{50'000});
    for (int i = 0; i < 30; ++i) {
      f.pass(Millis{500});
      f.look();
    }
    CHECK(f.guard.doubt().step.has_value() != elsewhere);
    f.guard.accept();
    CHECK_FALSE(f.guard.doubt());
    CHECK(f.guard.wall() == f.host.wall());
  }
}

TEST_CASE("clock_guard: both back together go on from where they were") {
  Fixture f;
  f.look();
  const WallTime before = f.database;
  f.host.jump_wall(std::chrono::hours{-1});
  f.database -= std::chrono::hours{1};
  f.look();
  f.pass(Millis{500});
  CHECK(f.guard.wall() == before + Millis{500});
}

TEST_CASE("clock_guard: one that is too far ahead runs no further ahead once it steps along with the database") {
  Fixture f;
  f.host.jump_wall(Millis{4100});
  f.look();
  CHECK(f.guard.wall() == f.database + Millis{2000});
  const WallTime right = f.database;
  f.host.jump_wall(std::chrono::hours{1});
  f.database += std::chrono::hours{1};
  f.look();
  REQUIRE(f.guard.doubt().step);
  CHECK(f.guard.wall() == right + Millis{2000});
  f.pass(Millis{500});
  f.look();
  CHECK(f.guard.wall() == right + Millis{2500});
  f.guard.accept();
  CHECK(f.guard.wall() == f.database + Millis{2000});
}
