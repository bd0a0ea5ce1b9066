#include "master/dispatch/kept_works.h"

#include <doctest/doctest.h>

namespace rota::master::dispatch {

TEST_CASE("kept_works: only the life that said hello, and only what it was sent since") {
  KeptWorks kept;
  const model::WorkerKey life{"w1", "one"}, next{"w1", "two"};
  CHECK(kept.of(life) == nullptr);
  kept.greeted(life, 10, 1000);
  REQUIRE(kept.of(life));
  kept.of(life)->learned("a", 10);
  CHECK(kept.of(life)->knows("a"));
  CHECK(kept.of(next) == nullptr);
  kept.greeted(life, 10, 1000);
  CHECK_FALSE(kept.of(life)->knows("a"));
  kept.greeted(next, 10, 1000);
  CHECK(kept.of(life) == nullptr);
  kept.greeted(next, 0, 0);
  CHECK(kept.of(next) == nullptr);
  kept.greeted(next, 10, 1000);
  kept.clear();
  CHECK(kept.of(next) == nullptr);
}

TEST_CASE("kept_works: everything is forgotten before the worker has to drop something") {
  LifeWorks works(2, 100);
  works.learned("a", 10);
  works.learned("b", 10);
  works.learned("b", 10);
  CHECK(works.knows("a"));
  works.learned("c", 10);
  CHECK(works.knows("c"));
  CHECK_FALSE(works.knows("a"));
  works.learned("d", 95);
  CHECK_FALSE(works.knows("c"));
  CHECK_FALSE(works.fits(26));
  CHECK(works.fits(25));
}

}  // namespace rota::master::dispatch
