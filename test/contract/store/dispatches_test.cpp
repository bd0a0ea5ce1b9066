// Runs that waited and were dispatched many at once, seen by everyone who reads a run, until their next change.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

constexpr std::int64_t kRuns = 40;
const model::WorkerKey kOne{"o'brien\\", "i?"};
const model::WorkerKey kTwo{"w2", "i2"};

void store_rows(const Backend& on, const core::Changes& changes) {
  const auto done = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(done.outcome == ApplyOutcome::Applied, done.detail);
}

/// By one turn: equal except for their ids.
model::RunProgress dispatched_to(const model::WorkerKey& worker) {
  model::RunProgress progress;
  progress.state = model::RunState::Dispatched;
  progress.attempt = 1;
  progress.worker = worker;
  progress.epoch = Epoch{1};
  progress.dispatched = wall_from_ms(kBase + 7000);
  return progress;
}

/// Runs 100 to 139 waited; from 102 on they are dispatched, every other one to kOne. Twice, as a repeat does.
std::vector<model::Run> dispatch_most(const Backend& on) {
  core::Changes changes = new_job(10, "a"), sent;
  std::vector<model::Run> expected;
  for (std::int64_t i = 0; i < kRuns; ++i) {
    model::Run run = a_tick_run(100 + i, 10, 1 + i);
    const model::RunProgress dispatched = dispatched_to(i % 2 == 0 ? kOne : kTwo);
    run.progress = {};
    run.progress.state = i % 2 == 0 ? model::RunState::Queued : model::RunState::Waiting;
    run.progress.reason = model::Reason::AllSlotsBusy;
    changes.new_runs.push_back(run);
    if (i >= 2) run.progress = dispatched;
    if (i >= 2) sent.updated_runs.push_back({run.id, dispatched});
    expected.push_back(run);
  }
  store_rows(on, changes);
  for (int i = 0; i < 2; ++i) store_rows(on, sent);
  return expected;
}

void check_all(const Backend& on, const std::vector<model::Run>& expected) {
  const auto found = on.reader->runs_after(RunId{0}, 1000);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(difference((*found)[i], expected[i]) == "");
    CHECK(difference(on.reader->get_run(expected[i].id)->run, expected[i]) == "");
  }
}

std::size_t listed(const Backend& on, std::vector<model::RunState> states, const std::string& worker = "") {
  RunQuery query;
  query.space = a_tick_run(100, 10, 1).space;
  query.states = std::move(states);
  query.worker = worker;
  query.limit = 1000;
  const auto rows = on.reader->list_runs(query);
  REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
  return rows->size();
}

core::Changes changed(std::vector<model::Run>& runs, std::size_t first, std::size_t last,
                      const model::RunProgress& progress) {
  core::Changes changes;
  for (std::size_t i = first; i < last; ++i) {
    runs[i].progress = progress;
    changes.updated_runs.push_back({runs[i].id, progress});
  }
  return changes;
}

}  // namespace

TEST_CASE("dispatches: every reader sees those of runs that waited") {
  using enum model::RunState;
  ON_EACH_STORE(on, led_backends()) {
    const auto expected = dispatch_most(on);
    check_all(on, expected);
    CHECK(listed(on, {Dispatched}) == 38);
    CHECK(listed(on, {Queued, Waiting}) == 2);
    CHECK(listed(on, {Dispatched, Succeeded}) == 38);
    CHECK(listed(on, {Queued, Dispatched, Running}) == 39);
    CHECK(listed(on, {}, kOne.id) == 19);
    CHECK(listed(on, {Dispatched}, kTwo.id) == 19);
    CHECK(listed(on, {Queued}, kOne.id) == 0);
    CHECK(on.office->count_held() == std::int64_t{38});
    const auto is_last = [&](const model::Run& run) { return difference(run, expected.back()) == ""; };
    const WallTime from = wall_from_ms(0), to = wall_from_ms(2 * kBase);
    CHECK(is_last(on.reader->tick_runs_of(JobId{10}, from, to, 100)->back()));
    CHECK(is_last(on.reader->tick_runs_of_jobs({JobId{10}}, from, to, 100)->back()));
    CHECK(is_last(on.reader->runs_of_job_after(JobId{10}, RunId{138}, 9)->at(0)));
    CHECK(is_last(on.reader->runs_of_job_up_to(JobId{10}, RunId{139}, 1)->at(0)));
    CHECK(is_last(on.reader->newest_runs_of({JobId{10}})->at(JobId{10}).run));
    RunQuery of_job;
    of_job.space = expected[0].space;
    of_job.job = "a";
    of_job.states = {Dispatched};
    of_job.limit = 1000;
    CHECK(on.reader->list_runs(of_job)->size() == 38);
  }
}

TEST_CASE("dispatches: the next leader knows those of runs that waited, and whose death was confirmed") {
  ON_EACH_STORE(on, led_backends()) {
    const auto expected = dispatch_most(on);
    core::Changes dead;
    dead.deaths.push_back({});
    dead.deaths[0].life = kTwo;
    dead.deaths[0].epoch = Epoch{1};
    store_rows(on, dead);
    const auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    REQUIRE(recovered->runs.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(difference(recovered->runs[i], expected[i]) == "");
    }
    REQUIRE(recovered->confirmed.size() == 1);
    CHECK(recovered->confirmed[0].life == kTwo);
    CHECK_FALSE(recovered->database_went_back);
  }
}

TEST_CASE("dispatches: what changes next takes their place, one by one or many at once") {
  using enum model::RunState;
  ON_EACH_STORE(on, led_backends()) {
    auto expected = dispatch_most(on);
    model::RunProgress waits;  // as after a refusal, with no attempt at all
    waits.state = Waiting;
    waits.reason = model::Reason::RetryDelay;
    waits.detail = nasty_text();
    waits.epoch = Epoch{1};
    model::RunProgress runs = expected[2].progress;
    runs.state = Running;
    runs.started = wall_from_ms(kBase + 9);
    const auto ended = succeeded(a_tick_run(100, 10, 1)).progress;
    auto failed = ended;
    failed.state = Failed;
    failed.outcome = full_outcome();
    failed.outcome.state = Failed;
    const std::vector<core::Changes> next = {
        changed(expected, 2, 3, waits),    changed(expected, 3, 13, waits),  changed(expected, 13, 14, runs),
        changed(expected, 14, 24, runs),   changed(expected, 24, 25, ended), changed(expected, 25, 35, ended),
        changed(expected, 35, 36, failed)};
    for (const core::Changes& changes : next) {
      for (int i = 0; i < 2; ++i) store_rows(on, changes);
    }
    check_all(on, expected);
    CHECK(listed(on, {Dispatched}) == 4);
    CHECK(listed(on, {Running}) == 11);
    CHECK(on.office->count_held() == std::int64_t{15});
    store_rows(on, changed(expected, 2, 13, expected[38].progress));  // and they may go again
    check_all(on, expected);
  }
}

TEST_CASE("dispatches: of runs that do not follow one another, no other one changes") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a"), sent, ends;
    std::vector<model::Run> expected;
    for (std::int64_t i = 0; i < 120; ++i) {
      model::Run run = a_tick_run(100 + i, 10, 1 + i);
      run.progress = {};
      changes.new_runs.push_back(run);
      if (i % 3 == 0 || i > 100) run.progress = dispatched_to(kOne);
      if (i % 3 == 0 || i > 100) sent.updated_runs.push_back({run.id, run.progress});
      if (i % 6 == 0) run.progress = succeeded(run).progress;
      if (i % 6 == 0) ends.updated_runs.push_back({run.id, run.progress});
      expected.push_back(run);
    }
    for (const core::Changes& next : {changes, sent, ends}) store_rows(on, next);
    check_all(on, expected);
    CHECK(on.office->recover()->runs.size() == 100);
  }
}

TEST_CASE("dispatches: one of a run that is not there is refused, and the others with it") {
  ON_EACH_STORE(on, led_backends()) {
    const auto expected = dispatch_most(on);
    core::Changes wrong;
    for (const auto& run : expected) wrong.updated_runs.push_back({run.id, expected[2].progress});
    wrong.updated_runs.push_back({RunId{999}, expected[2].progress});
    const auto result = on.store->apply(Epoch{1}, wrong);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    check_all(on, expected);
  }
}
