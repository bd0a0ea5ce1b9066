#include <doctest/doctest.h>

#include "worker/run/cpu_rate.h"

using namespace rota;
using rota::worker::run::CpuRate;

namespace {

MonoTime after_start(std::int64_t ms) { return MonoTime{Micros{ms * 1000}}; }

}  // namespace

TEST_CASE("cpu rate: two seconds of looks make one, in percent of one core") {
  CpuRate rate;
  rate.note(Millis{0}, after_start(0));
  CHECK_FALSE(rate.percent());
  rate.note(Millis{250}, after_start(250));
  CHECK_FALSE(rate.percent());
  rate.note(Millis{3000}, after_start(2000));
  CHECK(rate.percent() == 150);
  rate.note(Millis{3000}, after_start(2500));
  CHECK(rate.percent() == 150);
  rate.note(Millis{3000}, after_start(4000));
  CHECK(rate.percent() == 0);
}

TEST_CASE("cpu rate: a sum that goes back says nothing until the next window") {
  CpuRate rate;
  rate.note(Millis{5000}, after_start(0));
  rate.note(Millis{6000}, after_start(2000));
  CHECK(rate.percent() == 50);
  rate.note(Millis{100}, after_start(4000));
  CHECK_FALSE(rate.percent());
  rate.note(Millis{2100}, after_start(6000));
  CHECK(rate.percent() == 100);
}
