// Figures, and what is left behind after many starts.
#include <cstdlib>
#include <unistd.h>

#include <doctest/doctest.h>

#include "test/integration/warden/warden_rig.h"

namespace rota::test {
namespace {

using warden::Ended;
using warden::Started;

/// Starts `total` commands with `at_once` under way, forgets each, and returns starts per second.
double run_many(WardenUnderTest& under, int total, int at_once, const std::optional<warden::User>& user = {}) {
  const MonoTime from = BootClock::now();
  int asked = 0, ended = 0;
  while (ended < total) {
    while (asked < total && asked - ended < at_once) {
      warden::Start request = command(++asked, {"/bin/true"});
      request.user = user;
      if (user) request.space = "a";
      REQUIRE(under.client().start(request));
    }
    auto notices = under.client().receive(kPatience);
    REQUIRE(notices);
    REQUIRE_FALSE(notices->empty());
    for (const warden::Notice& notice : *notices) {
      const auto* end = std::get_if<Ended>(&notice);
      if (end == nullptr) continue;
      ++ended;
      CHECK(end->exit_status == 0);
      CHECK(end->proven_empty);
      REQUIRE(under.client().forget(end->key));
    }
  }
  const std::chrono::duration<double> took = BootClock::now() - from;
  return total / took.count();
}

TEST_CASE("warden: two thousand commands leave no descriptor and no zombie behind") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    run_many(under, 20, 4);
    REQUIRE(under.client().ping());
    under.await_any<warden::Pong>();
    const std::size_t before = descriptors_of_process(under.inner_pid());
    const double rate = run_many(under, 2000, 4);
    REQUIRE(under.client().ping());
    under.await_any<warden::Pong>();
    CHECK(eventually([&] { return descriptors_of_process(under.inner_pid()) == before; }));
    CHECK(eventually([&] { return zombies_below(under.outer_pid()) == 0; }));
    MESSAGE(means, " (", name_of(under.welcome().means), "): ", static_cast<int>(rate),
            " x /bin/true a second, ", before, " descriptors");
  }
  if (::geteuid() == 0) {
    WardenUnderTest under("auto");
    const warden::User nobody{65534, 65534, {}};
    run_many(under, 20, 4, nobody);
    const double rate = run_many(under, 2000, 4, nobody);
    CHECK(eventually([&] { return zombies_below(under.outer_pid()) == 0; }));
    MESSAGE("keepers that serve again: ", static_cast<int>(rate), " x /bin/true a second");
  }
  const MonoTime from = BootClock::now();
  REQUIRE(std::system("seq 2000 | xargs -P2 -n1 /bin/true") == 0);
  const std::chrono::duration<double> took = BootClock::now() - from;
  MESSAGE("xargs -P2: ", static_cast<int>(2000 / took.count()), " x /bin/true a second");
}

TEST_CASE("warden: goes on while the proper is stopped and reads nothing") {
  WardenUnderTest under("auto");
  constexpr int kCount = 600;
  for (int i = 1; i <= kCount; ++i) {
    // A warden that is slower than we are says "overloaded": surely not sent, so again.
    REQUIRE(eventually([&] { return under.client().start(command(i, {"/bin/true"})).has_value(); }));
  }
  // Nobody reads: the socket fills, and the warden keeps the rest in mind. Then all of it comes.
  int ended = 0;
  while (ended < kCount) {
    auto notices = under.client().receive(kPatience);
    REQUIRE(notices);
    REQUIRE_FALSE(notices->empty());
    for (const warden::Notice& notice : *notices) ended += std::holds_alternative<Ended>(notice);
  }
  CHECK(ended == kCount);
}

}  // namespace
}  // namespace rota::test
