#include <doctest/doctest.h>

#include "worker/vitals_rules.h"

using namespace rota;
using namespace rota::worker;
using namespace std::chrono_literals;

TEST_CASE("vitals: load is the weighted sum, whatever the weights add up to") {
  CHECK(load_of(1, 0, 0) == doctest::Approx(40));
  CHECK(load_of(0, 1, 0) == doctest::Approx(30));
  CHECK(load_of(0.5, 0.5, 0.5) == doctest::Approx(50));
  CHECK(load_of(9, 9, 9) == doctest::Approx(100));
  CHECK(load_of(1, 0, 0, {1, 1, 2}) == doctest::Approx(25));
}

TEST_CASE("vitals: a smoothed value follows and does not jump") {
  Smoothed value;
  CHECK(value.add(10) == doctest::Approx(10));
  CHECK(value.add(20) == doctest::Approx(13));
  for (int i = 0; i < 50; ++i) value.add(20);
  CHECK(value.add(20) == doctest::Approx(20));
}

TEST_CASE("vitals: the node is written when the verdict changes, and never for figures") {
  model::WorkerVitals told;
  told.cpu_percent = 10;
  told.disk_free_bytes = 1000;
  model::WorkerVitals now = told;
  now.cpu_percent = 99;
  now.disk_free_bytes = 1;
  CHECK_FALSE(is_worth_telling(told, now));
  now.health = "degraded: disk: 9 MiB free (1 %)";
  CHECK(is_worth_telling(told, now));
  told = now;
  now.health = "degraded: disk: 8 MiB free (1 %)";
  CHECK_FALSE(is_worth_telling(told, now));
  now.health = "ok";
  CHECK(is_worth_telling(told, now));
}
