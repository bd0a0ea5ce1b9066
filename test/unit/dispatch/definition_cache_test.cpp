#include "master/dispatch/definition_cache.h"

#include <doctest/doctest.h>

#include "fake_definitions.h"

namespace rota::master::dispatch::test {

TEST_CASE("definition_cache: asks the store once for each version") {
  FakeDefinitions store;
  DefinitionCache cache(store, 10, 1u << 20);
  for (int i = 0; i < 5; ++i) REQUIRE(cache.get(JobId{1}, 1));
  CHECK(store.asked == 1);
  REQUIRE(cache.get(JobId{1}, 2));
  CHECK(store.asked == 2);
}

TEST_CASE("definition_cache: tries twice, then says why") {
  FakeDefinitions store;
  DefinitionCache cache(store, 10, 1u << 20);
  store.failures = 1;
  CHECK(cache.get(JobId{1}, 1));
  store.failures = 2;
  const auto failed = cache.get(JobId{2}, 1);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::Unavailable);
}

TEST_CASE("definition_cache: the least recently used go first") {
  FakeDefinitions store;
  DefinitionCache cache(store, 2, 1u << 20);
  REQUIRE(cache.get(JobId{1}, 1));
  REQUIRE(cache.get(JobId{2}, 1));
  REQUIRE(cache.get(JobId{1}, 1));
  REQUIRE(cache.get(JobId{3}, 1));
  CHECK(cache.size() == 2);
  CHECK(store.asked == 3);
  REQUIRE(cache.get(JobId{1}, 1));
  CHECK(store.asked == 3);
  REQUIRE(cache.get(JobId{2}, 1));
  CHECK(store.asked == 4);
}

TEST_CASE("definition_cache: bytes are bounded too") {
  FakeDefinitions store;
  store.script_bytes = 100'000;
  DefinitionCache cache(store, 1000, 450'000);
  for (int i = 1; i <= 50; ++i) REQUIRE(cache.get(JobId{i}, 1));
  CHECK(cache.size() == 4);
}

}  // namespace rota::master::dispatch::test
