// Wanted numbers of workers: rows come back as they were, a new Term goes on with the newest, old ones are forgotten.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::HookState;

namespace {

model::ScaleChange a_change(std::int64_t id, const std::string& pool = "etl", HookState state = HookState::Open) {
  model::ScaleChange row;
  row.id = id;
  row.pool = pool;
  row.before = 1;
  row.after = 3;
  row.present = 2;
  row.leaving = 1;
  row.reason = model::ScaleReason::Load;
  row.hook = "local";
  row.stoppable = {{"w 1", "home-1"}, {"w2", "home-2"}};
  row.made = wall_from_ms(kBase + id * 1000);
  row.state = state;
  if (state != HookState::Open) row.settled = wall_from_ms(kBase + id * 1000 + 7);
  return row;
}

void apply_scaling(const Backend& on, std::vector<model::ScaleChange> rows) {
  core::Changes changes;
  changes.scaling = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

std::vector<std::int64_t> ids_of_changes(const std::vector<model::ScaleChange>& rows) {
  std::vector<std::int64_t> out;
  for (const auto& row : rows) out.push_back(row.id);
  return out;
}
using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("scaling: a row comes back as it went in, and as it was settled") {
  ON_EACH_STORE(on, led_backends()) {
    model::ScaleChange row = a_change(100);
    for (int i = 0; i < 2; ++i) apply_scaling(on, {row});
    REQUIRE(on.reader->list_scaling("", 0, 10)->size() == 1);
    CHECK(on.reader->list_scaling("", 0, 10)->front() == row);
    row.state = HookState::Delivered;
    row.attempts = 3;
    row.settled = wall_from_ms(kBase + 9);
    row.last_error = "status 503: \u00fc";
    apply_scaling(on, {row});
    CHECK(on.reader->list_scaling("etl", 0, 10)->front() == row);
  }
}

TEST_CASE("scaling: lists by pool and page, and what a new Term goes on with") {
  ON_EACH_STORE(on, led_backends()) {
    apply_scaling(on, {a_change(101), a_change(102, "Etl", HookState::Delivered),
                       a_change(103, "etl", HookState::Replaced), a_change(104, "etl", HookState::GivenUp),
                       a_change(105, "web")});
    CHECK(ids_of_changes(*on.reader->list_scaling("", 0, 10)) == Ids{105, 104, 103, 102, 101});
    CHECK(ids_of_changes(*on.reader->list_scaling("etl", 0, 2)) == Ids{104, 103});
    CHECK(ids_of_changes(*on.reader->list_scaling("etl", 103, 10)) == Ids{101});
    CHECK(ids_of_changes(*on.reader->list_scaling("none", 0, 10)).empty());
    const auto all = on.office->recover();
    REQUIRE(all);
    CHECK(ids_of_changes(all->scaling) == Ids{102, 104, 105});
    CHECK(all->scaling[1] == a_change(104, "etl", HookState::GivenUp));
  }
}

TEST_CASE("scaling: settled rows go by age, those that are named never, nor open ones") {
  ON_EACH_STORE(on, led_backends()) {
    apply_scaling(on, {a_change(101), a_change(102, "etl", HookState::Delivered),
                       a_change(103, "etl", HookState::GivenUp), a_change(104, "etl", HookState::NoHook)});
    core::Changes forget;
    forget.forget_scaling = {wall_from_ms(kBase + 104'000), {103}};
    for (int i = 0; i < 2; ++i) {
      const auto result = on.store->apply(Epoch{1}, forget);
      REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
    }
    CHECK(ids_of_changes(*on.reader->list_scaling("", 0, 10)) == Ids{104, 103, 101});
  }
}
