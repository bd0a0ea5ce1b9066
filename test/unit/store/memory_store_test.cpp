// What only the memory store can do: fail when a test says so.
#include "master/store/memory/memory_store.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;

namespace {

core::Changes watermark(std::int64_t ms) {
  core::Changes changes;
  changes.watermark = wall_from_ms(ms);
  return changes;
}

}  // namespace

TEST_CASE("memory store: an unknown answer may stand or not, as asked") {
  MemoryStore store;
  REQUIRE(store.enter_office(Epoch{1}, "m"));
  store.fail_next(ApplyOutcome::Unknown, false);
  CHECK(store.apply(Epoch{1}, watermark(5)).outcome == ApplyOutcome::Unknown);
  CHECK_FALSE(store.watermark()->has_value());
  store.fail_next(ApplyOutcome::Unknown, true);
  CHECK(store.apply(Epoch{1}, watermark(5)).outcome == ApplyOutcome::Unknown);
  CHECK(store.watermark()->has_value());
  CHECK(store.apply(Epoch{1}, watermark(6)).outcome == ApplyOutcome::Applied);
}

TEST_CASE("memory store: while it is down every call says so") {
  MemoryStore store;
  store.set_down(true);
  CHECK(store.apply(Epoch{0}, {}).outcome == ApplyOutcome::Failed);
  CHECK(store.probe().error().code == ErrorCode::Unavailable);
  CHECK(store.recover().error().code == ErrorCode::Unavailable);
  CHECK(store.get_run(RunId{1}).error().code == ErrorCode::Unavailable);
  CHECK(store.append({}).error().code == ErrorCode::Unavailable);
  store.set_down(false);
  CHECK(store.probe());
}
