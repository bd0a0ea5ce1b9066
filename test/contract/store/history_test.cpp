// Retention of runs: what is past is seen in order, and goes whole.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

core::Changes a_kept_job(std::int64_t id, Millis keep, bool one_off = false) {
  core::Changes changes = new_job(id, "kept" + std::to_string(id));
  model::JobDefinition definition = *changes.versions[0].definition;
  definition.rules.keep_runs = keep;
  changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  changes.jobs[0].one_off = one_off;
  return changes;
}

/// A run of the job with an attempt and a note, ended at its recording and so much.
core::Changes a_past_run(std::int64_t id, std::int64_t job, Millis ended_after) {
  core::Changes changes;
  model::Run run = a_tick_run(id, job, id);
  run.progress.state = model::RunState::Succeeded;
  run.progress.ended = run.recorded + ended_after;
  changes.new_runs.push_back(run);
  core::RunUpdate update;
  update.id = run.id;
  update.progress = run.progress;
  changes.updated_runs.push_back(update);
  model::AttemptRow attempt;
  attempt.run = run.id;
  attempt.attempt = 1;
  changes.attempts.push_back(attempt);
  model::RunNote note;
  note.run = run.id;
  note.attempt = 1;
  changes.notes.push_back(note);
  return changes;
}

void apply(const Backend& on, const core::Changes& changes) {
  const auto done = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(done.outcome == ApplyOutcome::Applied, done.detail);
}

}  // namespace

TEST_CASE("history: past runs come page by page, with when they ended and how long they are kept") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK_FALSE(*on.history->shortest_keep());
    apply(on, a_kept_job(5, Millis{120'000}));
    apply(on, a_kept_job(6, model::kKeepForEver));
    apply(on, a_kept_job(7, Millis{60'000}, true));
    apply(on, a_past_run(10, 5, Millis{500}));
    apply(on, a_past_run(11, 6, Millis{-5000}));
    core::Changes living;
    living.new_runs.push_back(a_tick_run(12, 99, 12));
    apply(on, living);
    CHECK(on.history->shortest_keep()->value() == Millis{120'000});
    const auto runs = on.history->past_runs(RunId{0}, 2);
    REQUIRE_MESSAGE(runs.has_value(), (runs ? "" : runs.error().message));
    REQUIRE(runs->size() == 2);
    const PastRun& first = runs->at(0);
    CHECK(first.run == RunId{10});
    CHECK(first.job == JobId{5});
    CHECK(first.tick == a_tick_run(10, 5, 10).tick);
    CHECK(first.is_final);
    CHECK(first.ended == first.recorded + Millis{500});
    CHECK(first.keep_runs == Millis{120'000});
    CHECK(runs->at(1).keep_runs == model::kKeepForEver);
    CHECK(runs->at(1).ended == runs->at(1).recorded);  // its worker's clock was wrong
    const auto rest = on.history->past_runs(RunId{11}, 2);
    REQUIRE(rest);
    REQUIRE(rest->size() == 1);
    CHECK_FALSE(rest->at(0).is_final);
    CHECK(rest->at(0).keep_runs == Millis{0});  // its job is not known
  }
}

TEST_CASE("history: a run goes with its attempts, note and one-off job, and only when it is final") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, a_kept_job(5, Millis{0}));
    apply(on, a_kept_job(7, Millis{0}, true));
    apply(on, a_past_run(10, 5, Millis{1}));
    apply(on, a_past_run(11, 7, Millis{1}));
    apply(on, a_past_run(12, 7, Millis{1}));
    core::Changes living;
    living.new_runs.push_back(a_tick_run(13, 5, 13));
    apply(on, living);
    for (const std::int64_t run : {10, 12}) {
      core::Changes told;
      told.late.emplace_back().job = JobId{run == 10 ? 5 : 7};
      told.late.back().run = RunId{run};
      apply(on, told);
    }
    REQUIRE(on.retention->note_pruned({RunId{10}}, wall_from_ms(kBase)));
    auto runs = *on.history->past_runs(RunId{0}, 10);
    REQUIRE(runs.size() == 4);
    CHECK(on.reader->runs_gone_through() == RunId{});
    CHECK(on.reader->runs_among({runs[0].run, RunId{987654}})->size() == 1);
    REQUIRE(on.history->erase_runs({runs[0], runs[1], runs[3]}));
    CHECK(on.reader->runs_among({runs[0].run, RunId{987654}})->empty());
    CHECK(on.reader->runs_among({})->empty());
    runs = *on.history->past_runs(RunId{0}, 10);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].run == RunId{12});
    CHECK(runs[1].run == RunId{13});
    CHECK(on.reader->attempts_of(RunId{10})->empty());
    CHECK(on.reader->attempts_of(RunId{12})->size() == 1);
    CHECK_FALSE(*on.reader->note_of(RunId{10}));
    CHECK(on.reader->late_of(JobId{5})->empty());
    CHECK(on.reader->late_of(JobId{7})->size() == 1);
    CHECK(on.reader->pruned_among({RunId{10}})->empty());
    CHECK(on.reader->versions_of(JobId{7})->size() == 1);
    REQUIRE(on.history->erase_runs({runs[0]}));
    REQUIRE(on.history->erase_runs({runs[0]}));  // again
    CHECK(on.reader->versions_of(JobId{7})->empty());
    CHECK(on.reader->versions_of(JobId{5})->size() == 1);
    CHECK(on.history->erase_runs({}));
  }
}

TEST_CASE("history: up to where rows of ticks may have gone never goes back") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK_FALSE(*on.reader->gone_through(JobId{5}));
    REQUIRE(on.history->forget_through({{JobId{5}, wall_from_ms(kBase)}, {JobId{6}, wall_from_ms(kBase + 1)}}));
    REQUIRE(on.history->forget_through({{JobId{5}, wall_from_ms(kBase - 1)}}));
    CHECK(on.reader->gone_through(JobId{5})->value() == wall_from_ms(kBase));
    CHECK(on.reader->gone_through(JobId{6})->value() == wall_from_ms(kBase + 1));
    CHECK(on.history->forget_through({}));
  }
}

TEST_CASE("history: gap rows come page by page over jobs and versions, and go by name") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, a_kept_job(5, Millis{120'000}));
    core::Changes changes;
    for (const std::int64_t job : {5, 6}) {
      for (const std::int64_t from : {10, 20, 30}) changes.gaps.push_back(a_gap(job, from, from + 5));
    }
    model::Gap newer = a_gap(5, 15, 18);
    newer.version = 2;
    changes.gaps.push_back(newer);
    apply(on, changes);
    std::vector<GapKey> seen;
    GapKey after;
    for (int page = 0; page < 10; ++page) {
      const auto gaps = on.history->past_gaps(after, 2);
      REQUIRE_MESSAGE(gaps.has_value(), (gaps ? "" : gaps.error().message));
      if (gaps->empty()) break;
      for (const PastGap& gap : *gaps) {
        seen.push_back(gap.key);
        CHECK(gap.to > gap.key.from);
        CHECK(gap.keep_runs == Millis{gap.key.job == JobId{5} ? 120'000 : 0});
      }
      after = gaps->back().key;
    }
    REQUIRE(seen.size() == 7);
    core::Changes told;
    for (const GapKey& gap : seen) {
      told.late.emplace_back().job = gap.job;
      told.late.back().tick = gap.from;
    }
    apply(on, told);
    const auto told_before = on.reader->late_of(JobId{5})->size() + on.reader->late_of(JobId{6})->size();
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    REQUIRE(on.history->erase_gaps({seen[0], seen[3], seen[6]}));
    REQUIRE(on.history->erase_gaps({seen[0]}));
    CHECK(on.reader->gaps_of(JobId{5})->size() == 2);
    CHECK(on.reader->gaps_of(JobId{6})->size() == 2);
    CHECK(on.reader->late_of(JobId{5})->size() + on.reader->late_of(JobId{6})->size() < told_before);
    CHECK(on.history->erase_gaps({}));
  }
}
