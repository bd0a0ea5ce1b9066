#include "master/upkeep/clock_step_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using master::ClockSteps;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace {

/// A host, and another one whose clock may be heard.
struct TwoHosts {
  FakeClock host;
  ClockSteps steps;
  WallTime other = host.wall();

  void pass(Millis by, Millis step = 500ms) {
    for (Millis passed{0}; passed < by; passed += step) {
      host.advance(step);
      other += step;
      steps.look(host.now());
    }
  }
  void pass_hearing(Millis by) {
    for (Millis passed{0}; passed < by; passed += 500ms) {
      pass(500ms);
      hear();
    }
  }
  void hear() {
    steps.look(host.now());
    steps.hear("database", other, host.mono());
  }
  void jump(Millis by) {
    host.jump_wall(by);
    steps.look(host.now());
  }
  WallTime trusted() const { return steps.trusted(host.now()); }
};

}  // namespace

TEST_CASE("clock_step: a step holds at its first reading, and the clock of before goes on") {
  TwoHosts f;
  f.pass(10s);
  f.jump(1h);
  REQUIRE(f.steps.hold());
  CHECK(f.steps.hold()->by == 1h);
  CHECK(f.trusted() == f.other);
  f.pass(8s);
  CHECK(f.trusted() == f.other);
  f.jump(-1h);
  CHECK_FALSE(f.steps.hold());
  CHECK(f.trusted() == f.host.wall());
}

TEST_CASE("clock_step: back is a step as well") {
  TwoHosts f;
  f.pass(10s);
  f.jump(-1h);
  REQUIRE(f.steps.hold());
  CHECK(f.steps.hold()->by == -1h);
  CHECK(f.trusted() == f.other);
}

TEST_CASE("clock_step: a slew is none, and many small moves within a minute are one") {
  TwoHosts f;
  f.pass(10s);
  for (int second = 0; second < 600; ++second) {
    f.jump(30ms);
    f.pass(1s);
  }
  CHECK_FALSE(f.steps.hold());
  for (int second = 0; second < 10; ++second) {
    f.jump(150ms);
    f.pass(1s);
  }
  CHECK(f.steps.hold());
}

TEST_CASE("clock_step: without a witness it holds until the operator accepts") {
  TwoHosts f;
  f.pass(10s);
  f.jump(1h);
  f.pass(2h, 10s);
  REQUIRE(f.steps.hold());
  CHECK_FALSE(f.steps.hold()->has_witness);
  f.steps.accept();
  CHECK_FALSE(f.steps.hold());
  CHECK(f.trusted() == f.host.wall());
  f.jump(1h);
  CHECK(f.steps.hold());
}

TEST_CASE("clock_step: a witness must agree for a minute without a break") {
  TwoHosts f;
  f.pass_hearing(70s);
  f.jump(1h);
  f.pass_hearing(70s);
  REQUIRE(f.steps.hold());
  CHECK(f.steps.hold()->has_witness);
  f.other += 1h;  // its clock was the one that was behind, and is set at last
  f.pass_hearing(50s);
  CHECK(f.steps.hold());
  f.other -= 1h;
  f.pass_hearing(1s);
  f.other += 1h;
  f.pass_hearing(59s);
  CHECK(f.steps.hold());
  f.pass_hearing(3s);
  CHECK_FALSE(f.steps.hold());
}

TEST_CASE("clock_step: a step towards the witnesses holds nothing") {
  TwoHosts f;
  f.host.jump_wall(-1h);  // as it booted
  f.hear();
  f.pass_hearing(5s);
  REQUIRE(f.steps.hold());
  CHECK(f.steps.hold()->is_new);
  f.jump(1h);
  CHECK_FALSE(f.steps.hold());
  f.pass_hearing(70s);
  f.other += 10min;  // the machine stood still
  f.pass_hearing(70s);
  CHECK_FALSE(f.steps.hold());
  f.jump(10min);
  CHECK_FALSE(f.steps.hold());
}

TEST_CASE("clock_step: two hosts that follow a wrong time server one after the other are not believed at once") {
  TwoHosts f;
  f.pass_hearing(70s);
  f.other += 1h;
  f.pass_hearing(5s);
  f.jump(1h);
  CHECK(f.steps.hold());
  f.pass_hearing(8s);
  f.other -= 1h;
  f.jump(-1h);
  CHECK_FALSE(f.steps.hold());
}

TEST_CASE("clock_step: a step while one is held goes back, on, or to the witnesses") {
  TwoHosts f;
  f.pass_hearing(70s);
  f.jump(1h);
  f.pass_hearing(5s);
  f.jump(1h);
  CHECK(f.steps.hold());
  f.pass_hearing(5s);
  f.other += 1s;
  f.hear();
  f.jump(-2h + 1s);
  CHECK_FALSE(f.steps.hold());
}

TEST_CASE("clock_step: a witness that fell silent is none") {
  TwoHosts f;
  f.pass_hearing(70s);
  f.pass(20s);
  f.jump(1h);
  REQUIRE(f.steps.hold());
  CHECK_FALSE(f.steps.hold()->has_witness);
}

TEST_CASE("clock_step: one of several witnesses that disagrees holds nothing in a new process") {
  TwoHosts f;
  f.hear();
  f.steps.hear("a worker", f.other + 1h, f.host.mono());
  CHECK_FALSE(f.steps.hold());
}

TEST_CASE("clock_step: a database that may be on this host tells the way where the two were apart, and no more") {
  TwoHosts f;
  const auto hear = [&f] {
    f.steps.look(f.host.now());
    f.steps.hear("database", f.other, f.host.mono(), false);
  };
  f.host.jump_wall(1h);
  hear();
  f.pass(5s);
  hear();
  CHECK_FALSE(f.steps.hold());
  f.jump(-1h);
  CHECK_FALSE(f.steps.hold());
  f.pass(70s);
  hear();
  f.other += 1h;  // both, the database a moment sooner
  hear();
  f.jump(1h);
  for (int i = 0; i < 140; ++i) {
    f.pass(500ms);
    hear();
  }
  REQUIRE(f.steps.hold());
  CHECK_FALSE(f.steps.hold()->has_witness);
}
