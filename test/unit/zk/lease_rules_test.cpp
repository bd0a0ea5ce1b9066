#include "common/zk/lease_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::zk;

namespace {
constexpr MonoTime at(int ms) { return MonoTime{Millis{ms}}; }
constexpr LeaseTiming kDefault{Millis{6000}, Millis{500}};
}  // namespace

TEST_CASE("lease rules: the margin covers the server's tick, one beat and our own delay") {
  CHECK(beat_interval(kDefault) == Millis{1000});
  CHECK(lease_margin(kDefault) == Millis{1800});
  CHECK(lease_end(at(100'000), kDefault) == at(104'200));
}

TEST_CASE("lease rules: a lease ends before the session can, however long the write was delayed") {
  // The server restarts the session's time when it handles the write, never before the write was sent.
  for (int sent = 0; sent < 6000; sent += 500) {
    CHECK(lease_end(at(sent), kDefault) < at(sent + 6000));
  }
}

TEST_CASE("lease rules: an answer out of order does not shorten the lease") {
  const MonoTime end = extend_lease(MonoTime{}, at(5000), kDefault);
  CHECK(extend_lease(end, at(4000), kDefault) == end);
  CHECK(extend_lease(end, at(6000), kDefault) == at(10'200));
}

TEST_CASE("lease rules: a session too short gives no lease, never a negative one") {
  const LeaseTiming tiny{Millis{600}, Millis{500}};
  CHECK(lease_length(tiny) == Millis{0});
  CHECK(lease_end(at(1000), tiny) == at(1000));
  CHECK_FALSE(lease_is_possible(tiny));
  CHECK(lease_is_possible(kDefault));
  CHECK_FALSE(lease_is_possible(LeaseTiming{Millis{1500}, Millis{500}}));
}
