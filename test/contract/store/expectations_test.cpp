// What is told once, and how long jobs take: read back as it was, what a new Term reads, and what goes with
// runs and gaps.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::LateRow;
using model::ToldOnce;

namespace {

LateRow a_row(JobId job, RunId run, ToldOnce what, std::int64_t told_ms) {
  LateRow row;
  row.job = job;
  row.run = run;
  row.tick = wall_from_ms(kBase + 1);
  row.what = what;
  row.space = "default";
  row.job_name = "job";
  row.epoch = Epoch{1};
  row.due = wall_from_ms(kBase + 5);
  row.told = wall_from_ms(kBase + told_ms);
  row.was = "running";
  row.limit = Millis{7};
  return row;
}

void apply_late(const Backend& on, std::vector<LateRow> rows) {
  core::Changes changes;
  changes.late = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

}  // namespace

TEST_CASE("expectations: a row comes back as it went in, and the first one stands") {
  ON_EACH_STORE(on, led_backends()) {
    const LateRow row = a_row(JobId{12}, RunId{100}, ToldOnce::FinishBy, 50);
    LateRow other = row;
    other.told = wall_from_ms(kBase + 60);
    apply_late(on, {row});
    apply_late(on, {row});
    apply_late(on, {other});
    REQUIRE(on.reader->late_of(JobId{12})->size() == 1);
    CHECK(on.reader->late_of(JobId{12})->front() == row);
    LateRow bare = a_row(JobId{12}, RunId{101}, ToldOnce::LongerThan, 70);
    bare.tick.reset();
    bare.due.reset();
    apply_late(on, {bare});
    CHECK(on.reader->late_of(JobId{12})->back() == bare);
    CHECK(on.reader->list_late(JobId{}, "default", WallTime{}, 10)->front() == bare);
    CHECK(on.reader->list_late(JobId{}, "default", WallTime{}, 1)->size() == 1);
    CHECK(on.reader->list_late(JobId{}, "other", WallTime{}, 10)->empty());
    CHECK(on.reader->list_late(JobId{12}, "", wall_from_ms(kBase + 60), 10)->size() == 1);
  }
}

TEST_CASE("expectations: Terms and dead workers are no jobs' rows") {
  ON_EACH_STORE(on, led_backends()) {
    LateRow term;
    term.what = ToldOnce::Term;
    term.run = RunId{7};
    term.epoch = Epoch{7};
    term.told = wall_from_ms(kBase);
    LateRow dead;
    dead.what = ToldOnce::WorkerDead;
    dead.worker = "w1";
    dead.tick = wall_from_ms(kBase + 3);
    dead.epoch = Epoch{7};
    dead.told = wall_from_ms(kBase + 9);
    apply_late(on, {term, dead});
    CHECK(on.reader->list_late(JobId{}, "", WallTime{}, 10)->empty());
    REQUIRE(on.reader->late_terms()->size() == 1);
    CHECK(on.reader->late_terms()->front() == term);
    REQUIRE(on.office->recover()->told.size() == 1);
    CHECK(on.office->recover()->told.front() == dead);
    core::Changes changes;
    changes.forget_dead = wall_from_ms(kBase + 10);
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(on.office->recover()->told.empty());
  }
}

TEST_CASE("expectations: the newest lengths of a job stand") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK(!on.reader->pace_of(JobId{12})->has_value());
    core::Changes changes;
    changes.paces = {{JobId{12}, 1, {Millis{5}}}, {JobId{12}, 2, {Millis{5}, Millis{70}}}, {JobId{13}, 0, {}}};
    for (int i = 0; i < 2; ++i) {
      REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    }
    CHECK(on.reader->pace_of(JobId{12}) == std::optional(changes.paces[1]));
    CHECK(on.office->recover()->paces == std::vector<model::JobPace>{changes.paces[1], changes.paces[2]});
  }
}
