// Semaphores: each version once, read back as it was, and what a new Term gets of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

model::SemaphoreRow a_semaphore(const std::string& name, std::int32_t version, std::int32_t count) {
  return {"default", name, version, count, wall_from_ms(kBase + version * 1000), (std::int64_t{1} << 40) + version,
          "local",   false};
}

model::SemaphoreRow without(model::SemaphoreRow row) {
  row.deleted = true;
  return row;
}

void apply_semaphores(const Backend& on, std::vector<model::SemaphoreRow> rows) {
  core::Changes changes;
  changes.semaphores = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

std::vector<std::string> in_words(const std::vector<model::SemaphoreRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) {
    out.push_back(row.name + " " + std::to_string(row.version) + ": " + std::to_string(row.count) +
                  (row.deleted ? " deleted" : ""));
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("semaphores: a version comes back as it went in, also when its batch is repeated") {
  ON_EACH_STORE(on, led_backends()) {
    const auto row = a_semaphore("oracle", 1, 5);
    for (int i = 0; i < 3; ++i) apply_semaphores(on, {row});
    const auto rows = on.reader->semaphore_versions("default", "oracle");
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);
    CHECK(rows->front() == row);
  }
}

TEST_CASE("semaphores: lists and a new Term have the newest version of each") {
  ON_EACH_STORE(on, led_backends()) {
    apply_semaphores(on, {a_semaphore("cpu", 1, 1), a_semaphore("oracle", 1, 2), a_semaphore("ora_2", 1, 3)});
    apply_semaphores(on, {a_semaphore("oracle", 2, 0), without(a_semaphore("cpu", 2, 1))});
    CHECK(in_words(*on.reader->list_semaphores("default", "", 100)) == Lines{"ora_2 1: 3", "oracle 2: 0"});
    CHECK(in_words(*on.reader->list_semaphores("default", "ora_", 100)) == Lines{"ora_2 1: 3"});
    CHECK(in_words(*on.reader->list_semaphores("default", "", 1)) == Lines{"ora_2 1: 3"});
    CHECK(on.reader->list_semaphores("other", "", 100)->empty());
    CHECK(in_words(*on.reader->semaphore_versions("default", "cpu")) == Lines{"cpu 1: 1", "cpu 2: 1 deleted"});
    auto all = on.office->recover();
    REQUIRE(all);
    std::ranges::sort(all->semaphores, {}, &model::SemaphoreRow::name);
    CHECK(in_words(all->semaphores) == Lines{"cpu 2: 1 deleted", "ora_2 1: 3", "oracle 2: 0"});
  }
}
