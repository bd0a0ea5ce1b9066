#include "worker/warden/resting_keepers.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "worker/warden/keeper_order.h"
#include "worker/warden/packet.h"

namespace rota::worker::warden {
namespace {

constexpr MonoTime kNow{Micros{1'000'000}};

ServingKeeper a_keeper(const std::string& kind, pid_t pid) {
  ServingKeeper keeper;
  keeper.kind = kind;
  keeper.pid = pid;
  return keeper;
}

}  // namespace

TEST_CASE("keepers: serve one space and one user, and nobody after root") {
  const User nobody{65534, 65534, {}};
  const std::string kind = keeper_kind("a", nobody, 0);
  CHECK(!kind.empty());
  CHECK(kind == keeper_kind("a", nobody, 1000));
  CHECK(kind != keeper_kind("b", nobody, 0));
  CHECK(kind != keeper_kind("a", User{65533, 65534, {}}, 0));
  CHECK(kind != keeper_kind("a", User{65534, 65533, {}}, 0));
  CHECK(kind != keeper_kind("a", User{65534, 65534, {7}}, 0));
  CHECK(keeper_kind("a", User{6, 5, {4}}, 0) != keeper_kind("a", User{65, 4, {}}, 0));
  SUBCASE("root, named or as the warden is") {
    CHECK(keeper_kind("a", User{0, 65534, {}}, 1000).empty());
    CHECK(keeper_kind("a", std::nullopt, 0).empty());
  }
  SUBCASE("as the warden is, an ordinary user") { CHECK(!keeper_kind("a", std::nullopt, 1000).empty()); }
  SUBCASE("a proper that tells no space") { CHECK(keeper_kind("", nobody, 0).empty()); }
}

TEST_CASE("keepers: the one that served last serves again, only its kind, and not forever") {
  RestingKeepers resting;
  CHECK(!resting.take("a"));
  resting.put(a_keeper("a", 1), kNow);
  resting.put(a_keeper("b", 2), kNow);
  resting.put(a_keeper("a", 3), kNow + Millis{1});
  CHECK(resting.next_end() == kNow + RestingKeepers::kLongest);
  CHECK(resting.take("a")->pid == 3);
  resting.expire(kNow + RestingKeepers::kLongest - Millis{1});
  CHECK(resting.size() == 2);
  resting.expire(kNow + RestingKeepers::kLongest);
  CHECK(resting.size() == 0);
  CHECK(!resting.next_end());
  SUBCASE("one that has served long enough ends") {
    ServingKeeper old = a_keeper("a", 4);
    old.served = RestingKeepers::kMostServed;
    resting.put(std::move(old), kNow);
    CHECK(resting.size() == 0);
  }
  SUBCASE("of too many the one that rests longest ends") {
    for (std::size_t i = 0; i <= RestingKeepers::kMost; ++i) {
      resting.put(a_keeper(i == 0 ? "first" : "a", 5), kNow);
    }
    CHECK(resting.size() == RestingKeepers::kMost);
    CHECK(!resting.take("first"));
  }
}

TEST_CASE("keepers: an order arrives as it was sent, with its descriptors") {
  auto pair = packet_pair();
  REQUIRE(pair);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ProcessPlan plan;
  plan.argv = {"/bin/echo", "x"};
  plan.environment = {"A=1"};
  plan.folder = "/tmp";
  plan.umask = 027;
  plan.nice = 3;
  plan.limits = {{7, 100, 200}};
  plan.user = User{6, 5, {4}};
  plan.stdin_fd = plan.stdout_fd = plan.stderr_fd = plan.extra_fd = null.get();
  REQUIRE(send_order(pair->first.get(), 77, Millis{1500}, plan));
  const auto order = await_order(pair->second.get());
  REQUIRE(order);
  CHECK(order->serial == 77);
  CHECK(order->disconnect_grace == Millis{1500});
  CHECK(order->plan.argv == plan.argv);
  CHECK(order->plan.environment == plan.environment);
  CHECK(order->plan.folder == plan.folder);
  CHECK(order->plan.umask == plan.umask);
  CHECK(order->plan.nice == plan.nice);
  CHECK(order->plan.limits == plan.limits);
  CHECK(order->plan.user == plan.user);
  CHECK(order->plan.own_ipc);
  CHECK(order->descriptors.size() == 4);
  CHECK(::fcntl(order->plan.extra_fd, F_GETFD) == FD_CLOEXEC);
  SUBCASE("the warden lets go of it") {
    pair->first.reset();
    CHECK(!await_order(pair->second.get()));
  }
  SUBCASE("what cannot be read") {
    REQUIRE(send_packet(pair->first.get(), "no order", {}));
    CHECK(!await_order(pair->second.get()));
  }
  SUBCASE("a keeper that is gone") {
    pair->second.reset();
    CHECK(!send_order(pair->first.get(), 78, Millis{0}, plan));
  }
}

}  // namespace rota::worker::warden
