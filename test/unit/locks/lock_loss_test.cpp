#include "common/zk/lock_loss.h"

#include <doctest/doctest.h>

namespace rota::zk {

namespace {

constexpr MonoTime at(Millis since_start) { return MonoTime{Micros(since_start)}; }

}  // namespace

TEST_CASE("lock_loss: a holder that is seen with its lock goes on") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  for (Millis now{0}; now < Millis{60'000}; now += Millis{100}) {
    loss.look(true, at(now));
    CHECK_FALSE(loss.must_stop(at(now)));
  }
}

TEST_CASE("lock_loss: cut off, it goes on for a sixth, and is gone after another, of the session timeout") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(false, at(Millis{1000}));
  CHECK_FALSE(loss.must_stop(at(Millis{1000})));
  CHECK(loss.must_stop(at(Millis{1001})));
  CHECK_FALSE(loss.must_be_gone(at(Millis{2000})));
  CHECK(loss.must_be_gone(at(Millis{2001})));
}

TEST_CASE("lock_loss: a cut that ends in time costs nothing") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(false, at(Millis{900}));
  loss.look(true, at(Millis{1000}));
  CHECK_FALSE(loss.must_stop(at(Millis{2000})));
  CHECK(loss.must_stop(at(Millis{2001})));
}

TEST_CASE("lock_loss: who has begun to stop does not begin again, whatever ZooKeeper says then") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(false, at(Millis{1001}));
  loss.look(true, at(Millis{1100}));
  CHECK(loss.must_stop(at(Millis{1100})));
  CHECK(loss.must_be_gone(at(Millis{2100})));
}

TEST_CASE("lock_loss: a holder that was stopped itself for so long has lost it, though it seems held") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(true, at(Millis{2001}));
  CHECK(loss.must_stop(at(Millis{2001})));
  CHECK(loss.must_be_gone(at(Millis{2001})));
}

}  // namespace rota::zk
