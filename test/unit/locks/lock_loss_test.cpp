#include "common/zk/lock_loss.h"

#include <doctest/doctest.h>

namespace rota::zk {

namespace {

constexpr MonoTime at(Millis since_start) { return MonoTime{Micros(since_start)}; }

}  // namespace

TEST_CASE("lock_loss: a holder that still has its lock goes on") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  for (Millis now{0}; now < Millis{60'000}; now += Millis{100}) {
    loss.look(true, at(now));
    CHECK_FALSE(loss.must_stop(at(now)));
  }
}

TEST_CASE("lock_loss: cut off, it goes on for a sixth of the session timeout, and is gone after another sixth") {
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

TEST_CASE("lock_loss: a holder that has begun to stop does not go on again, whatever ZooKeeper says") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(false, at(Millis{1001}));
  loss.look(true, at(Millis{1100}));
  CHECK(loss.must_stop(at(Millis{1100})));
  CHECK(loss.must_be_gone(at(Millis{2100})));
}

TEST_CASE("lock_loss: a holder that was itself stopped for that time has lost the lock, although it seems held") {
  LockLoss loss(Millis{6000}, at(Millis{0}));
  loss.look(true, at(Millis{2001}));
  CHECK(loss.must_stop(at(Millis{2001})));
  CHECK(loss.must_be_gone(at(Millis{2001})));
}

}  // namespace rota::zk
