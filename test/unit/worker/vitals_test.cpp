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

TEST_CASE("vitals: the node is written when health changes, when much moved, and else once a minute") {
  model::WorkerVitals told;
  told.cpu_percent = 10;
  told.disk_free_bytes = 1000;
  model::WorkerVitals now = told;
  now.sampled = wall_from_ms(5);
  CHECK_FALSE(is_worth_telling(told, now, 1h));
  now.cpu_percent = 12;
  CHECK_FALSE(is_worth_telling(told, now, 59s));
  CHECK(is_worth_telling(told, now, 60s));
  now.cpu_percent = 15;
  CHECK_FALSE(is_worth_telling(told, now, 2s));
  CHECK(is_worth_telling(told, now, 3s));
  now = told;
  now.disk_free_bytes = 900;
  CHECK(is_worth_telling(told, now, 3s));
  now = told;
  now.health = "degraded: disk";
  CHECK(is_worth_telling(told, now, 0s));
}
