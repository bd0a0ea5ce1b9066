// What apply promises: all or nothing, once for any number of repeats, refused under another epoch, and
// never a row swallowed by another one's key.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

ApplyOutcome outcome_of(const Backend& on, const core::Changes& changes, Epoch epoch = Epoch{1}) {
  const auto result = on.store->apply(epoch, changes);
  INFO(result.detail);
  return result.outcome;
}

#define REQUIRE_APPLIED(on, changes)                                               \
  do {                                                                             \
    const auto result_ = (on).store->apply(Epoch{1}, changes);                     \
    REQUIRE_MESSAGE(result_.outcome == ApplyOutcome::Applied, result_.detail);     \
  } while (false)

core::Changes everything() {
  core::Changes changes = new_job(10, "nightly");
  changes.new_runs = {a_tick_run(100, 10, 1), a_manual_run(101, 10)};
  changes.new_runs[1].request_key = "key-1";
  changes.new_runs[1].request_hash = "hash-1";
  changes.gaps = {a_gap(10, 2, 4)};
  changes.lives = {{{"w1", "abcd"}, {"127.0.0.1", 4711}, "default", wall_from_ms(kBase), {}, ""}};
  changes.attempts = {{RunId{101}, 1, {"w1", "abcd"}, Epoch{1}, {}, false, full_outcome()}};
  changes.watermark = wall_from_ms(kBase + 4000);
  return changes;
}

}  // namespace

TEST_CASE("apply: an empty batch checks whether the epoch is still ours") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK(outcome_of(on, {}) == ApplyOutcome::Applied);
    REQUIRE(on.office->enter_office(Epoch{5}, "other"));
    auto result = on.store->apply(Epoch{1}, {});
    // Where the claim comes through another node, the first check may lose against it, without a word of it.
    if (on.name == "galera" && result.outcome == ApplyOutcome::Failed) result = on.store->apply(Epoch{1}, {});
    CHECK(result.outcome == ApplyOutcome::Fenced);
    CHECK(result.found == Epoch{5});
  }
}

TEST_CASE("apply: a batch applied twice has the effect of one") {
  ON_EACH_STORE(on, led_backends()) {
    const auto changes = everything();
    for (int i = 0; i < 3; ++i) REQUIRE_APPLIED(on, changes);
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs);
    REQUIRE(runs->size() == 2);
    CHECK(difference((*runs)[0], changes.new_runs[0]) == "");
    CHECK(difference((*runs)[1], changes.new_runs[1]) == "");
    CHECK(on.reader->gaps_of(JobId{10})->size() == 1);
    CHECK(on.reader->attempts_of(RunId{101})->size() == 1);
    CHECK(on.reader->lives_of("w1", 10)->size() == 1);
    CHECK(on.reader->versions_of(JobId{10})->size() == 1);
    CHECK(*on.reader->watermark() == wall_from_ms(kBase + 4000));
  }
}

TEST_CASE("apply: only the fields that are set in a run's note replace stored ones") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = everything();
    model::RunNote first;
    first.run = RunId{100};
    first.attempt = 1;
    first.said = wall_from_ms(kBase + 1);
    first.percent = 10;
    first.text = "begun";
    first.checkpoint = binary_bytes(65'536);
    model::RunNote second;
    second.run = RunId{100};
    second.attempt = 2;
    second.said = wall_from_ms(kBase + 2);
    second.percent = 20;
    changes.notes = {first, second};
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, changes);
    auto note = on.reader->note_of(RunId{100});
    REQUIRE(note);
    REQUIRE(*note);
    CHECK((*note)->attempt == 2);
    CHECK((*note)->said == second.said);
    CHECK((*note)->percent == 20);
    CHECK((*note)->text == "");
    CHECK((*note)->checkpoint == first.checkpoint);
    CHECK((*note)->checkpoint_attempt == 1);
    CHECK((*note)->checkpoint_said == first.said);
    second.checkpoint = "";
    second.percent.reset();
    core::Changes later;
    later.notes = {second};
    REQUIRE_APPLIED(on, later);
    note = on.reader->note_of(RunId{100});
    CHECK((*note)->percent == 20);
    CHECK((*note)->checkpoint == "");
    CHECK((*note)->checkpoint_attempt == 2);
    CHECK_FALSE(on.reader->note_of(RunId{101})->has_value());
    const auto saved = on.reader->checkpoints_of({RunId{100}, RunId{101}, RunId{999}});
    REQUIRE(saved);
    CHECK(*saved == std::map<RunId, std::string>{{RunId{100}, ""}});
  }
}

TEST_CASE("apply: under another epoch nothing is written") {
  ON_EACH_STORE(on, led_backends()) {
    REQUIRE(on.office->enter_office(Epoch{2}, "other"));
    CHECK(outcome_of(on, everything()) == ApplyOutcome::Fenced);
    CHECK(outcome_of(on, everything(), Epoch{3}) == ApplyOutcome::Fenced);
    CHECK(on.reader->runs_after(RunId{0}, 100)->empty());
    CHECK_FALSE(on.reader->watermark()->has_value());
    CHECK(outcome_of(on, everything(), Epoch{2}) == ApplyOutcome::Applied);
  }
}

TEST_CASE("apply: a second run of one job and tick is refused, and its batch with it") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes first = new_job(10, "a");
    first.new_runs = {a_tick_run(100, 10, 1)};
    REQUIRE_APPLIED(on, first);
    core::Changes second;
    second.new_runs = {a_manual_run(200, 10), a_tick_run(201, 10, 1), a_tick_run(202, 10, 2)};
    second.watermark = wall_from_ms(kBase + 9000);
    const auto result = on.store->apply(Epoch{1}, second);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    CHECK(result.detail.find("201") != std::string::npos);
    CHECK(result.detail.find("100") != std::string::npos);
    CHECK(on.reader->runs_after(RunId{0}, 100)->size() == 1);
    CHECK_FALSE(on.reader->watermark()->has_value());
    CHECK(outcome_of(on, {}) == ApplyOutcome::Applied);
  }
}

TEST_CASE("apply: the next batch stores nothing of a refused one") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes first = new_job(10, "a");
    first.new_runs = {a_tick_run(100, 10, 1)};
    REQUIRE_APPLIED(on, first);
    core::Changes refused = new_job(11, "b");
    refused.new_runs = {a_tick_run(201, 10, 1)};
    CHECK(outcome_of(on, refused) == ApplyOutcome::Failed);
    core::Changes next;
    next.new_runs = {a_tick_run(300, 10, 2)};
    REQUIRE_APPLIED(on, next);
    CHECK(on.reader->runs_after(RunId{0}, 100)->size() == 2);
    REQUIRE_APPLIED(on, new_job(12, "b"));  // the name is still free
  }
}

TEST_CASE("apply: a used request key is refused, and stays with the run that has it") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10)};
    changes.new_runs[0].request_key = "k'; --";
    changes.new_runs[0].request_hash = "h1";
    REQUIRE_APPLIED(on, changes);
    core::Changes again;
    again.new_runs = {a_manual_run(101, 10)};
    again.new_runs[0].request_key = "k'; --";
    const auto result = on.store->apply(Epoch{1}, again);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    std::string hash;
    const auto found = on.reader->run_of_key("local", "k'; --", &hash);
    REQUIRE(found);
    CHECK(*found == RunId{100});
    CHECK(hash == "h1");
    again.new_runs[0].principal = "somebody else";
    REQUIRE_APPLIED(on, again);
    CHECK_FALSE(on.reader->run_of_key("local", "k", nullptr)->has_value());
  }
}

TEST_CASE("apply: updates set absolute values, and again the same") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_tick_run(100, 10, 1), a_tick_run(101, 10, 2), a_tick_run(102, 10, 3)};
    REQUIRE_APPLIED(on, changes);

    core::Changes ends;
    ends.updated_runs = {succeeded(changes.new_runs[0]), {RunId{101}, changes.new_runs[1].progress}};
    ends.updated_runs[0].progress.outcome = full_outcome();
    ends.updated_runs[1].progress.state = model::RunState::Waiting;
    ends.updated_runs[1].progress.reason = model::Reason::RetryDelay;
    ends.updated_runs[1].progress.detail = nasty_text();
    ends.updated_runs[1].progress.not_before = wall_from_ms(kBase + 77);
    ends.updated_runs[1].progress.cancel_asked = true;
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, ends);

    auto expected = changes.new_runs;
    expected[0].progress = ends.updated_runs[0].progress;
    expected[1].progress = ends.updated_runs[1].progress;
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs->size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(difference((*runs)[i], expected[i]) == "");

    core::Changes back;  // an outcome that is no more must go, and a NULL must come back
    back.updated_runs = {{RunId{100}, changes.new_runs[0].progress},
                         {RunId{101}, changes.new_runs[1].progress}};
    REQUIRE_APPLIED(on, back);
    CHECK(difference(on.reader->get_run(RunId{100})->run, changes.new_runs[0]) == "");
    CHECK(difference(on.reader->get_run(RunId{101})->run, changes.new_runs[1]) == "");
  }
}

TEST_CASE("apply: a run that another replaced comes back as that, and a cancelled one as cancelled") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    for (std::int64_t id = 100; id < 124; ++id) changes.new_runs.push_back(a_tick_run(id, 10, id));
    REQUIRE_APPLIED(on, changes);
    core::Changes ends;
    for (model::Run& run : changes.new_runs) {
      const bool is_replaced = run.id.value % 3 != 0;
      run.progress.state = model::RunState::Cancelled;
      run.progress.reason = is_replaced ? model::Reason::ReplacedBy : model::Reason::CancelledByUser;
      run.progress.detail = is_replaced ? "4711" : "cancelled by ann: 4711";
      run.progress.cancel_asked = true;
      run.progress.ended = wall_from_ms(kBase + 90);
      ends.updated_runs.push_back({run.id, run.progress});
    }
    REQUIRE_APPLIED(on, ends);
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs->size() == changes.new_runs.size());
    for (std::size_t i = 0; i < runs->size(); ++i) CHECK(difference((*runs)[i], changes.new_runs[i]) == "");
  }
}

TEST_CASE("apply: many updates that are alike are stored as each by itself") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    for (int i = 0; i < 50; ++i) changes.new_runs.push_back(a_tick_run(100 + i, 10, i));
    REQUIRE_APPLIED(on, changes);
    core::Changes sent;
    auto expected = changes.new_runs;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i].progress.detail = nasty_text();
      expected[i].progress.worker.id = i % 3 == 0 ? "one" : "two";
      if (i == 7) expected[i].progress.started = wall_from_ms(kBase + 5);
      sent.updated_runs.push_back({expected[i].id, expected[i].progress});
    }
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, sent);
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs->size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(difference((*runs)[i], expected[i]) == "");
    }

    sent.updated_runs.push_back({RunId{999}, expected[0].progress});
    for (auto& update : sent.updated_runs) update.progress.attempt = 9;
    const auto result = on.store->apply(Epoch{1}, sent);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    CHECK(difference(on.reader->get_run(RunId{100})->run, expected[0]) == "");
  }
}

TEST_CASE("apply: an update of a missing run is refused and creates no row") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_tick_run(100, 10, 1)};
    REQUIRE_APPLIED(on, changes);
    core::Changes wrong;
    wrong.updated_runs = {succeeded(a_tick_run(100, 10, 1)), succeeded(a_tick_run(999, 10, 2))};
    const auto result = on.store->apply(Epoch{1}, wrong);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    CHECK(result.detail.find("999") != std::string::npos);
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs->size() == 1);
    CHECK((*runs)[0].progress.state == model::RunState::Dispatched);
  }
}

TEST_CASE("apply: a run may be new and final in one row") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10)};
    changes.new_runs[0].progress.state = model::RunState::Failed;
    changes.new_runs[0].progress.outcome = full_outcome();
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, changes);
    CHECK(difference(on.reader->get_run(RunId{100})->run, changes.new_runs[0]) == "");
  }
}

TEST_CASE("apply: nasty, empty and missing values come back as they went in") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, nasty_text());
    changes.jobs[0].state = model::JobState::Paused;
    changes.jobs[0].state_by = "o'brien";
    changes.jobs[0].state_why = nasty_text();
    changes.jobs[0].space = "team \xF0\x9F\x98\x80";
    auto definition = std::make_shared<model::JobDefinition>(*changes.versions[0].definition);
    definition->space = changes.jobs[0].space;  // as in its job
    changes.versions[0].definition = definition;
    auto filled = a_tick_run(100, 10, 1);
    filled.space = changes.jobs[0].space;
    filled.principal = "o'brien\\";
    filled.request_key = binary_bytes(255);
    filled.request_hash = "v1:abc";
    filled.parameters = std::make_shared<const model::Parameters>(
        model::Parameters{{"a", nasty_text()}, {"", ""}, {"big", std::string(1 << 20, 'x')}});
    filled.progress.detail = nasty_text();
    auto no_parameters = a_manual_run(101, 10);
    auto empty_parameters = a_manual_run(102, 10);
    empty_parameters.parameters = std::make_shared<const model::Parameters>();
    empty_parameters.progress = {};
    changes.new_runs = {filled, no_parameters, empty_parameters};
    REQUIRE_APPLIED(on, changes);

    CHECK(difference(on.reader->get_run(RunId{100})->run, filled) == "");
    CHECK(on.reader->get_run(RunId{100})->job_name == nasty_text());
    CHECK(difference(on.reader->get_run(RunId{101})->run, no_parameters) == "");
    CHECK(difference(on.reader->get_run(RunId{102})->run, empty_parameters) == "");
    const auto job = on.reader->get_job(changes.jobs[0].space, nasty_text());
    REQUIRE(job);
    CHECK(difference(job->job, changes.jobs[0]) == "");
    CHECK(difference(job->version, changes.versions[0]) == "");
  }
}

TEST_CASE("apply: more rows than one statement holds") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    core::Changes ends;
    for (int i = 0; i < 1301; ++i) {
      changes.new_runs.push_back(a_tick_run(1000 + i, 10, i));
      ends.updated_runs.push_back(succeeded(changes.new_runs.back()));
    }
    REQUIRE_APPLIED(on, changes);
    REQUIRE_APPLIED(on, ends);
    REQUIRE_APPLIED(on, ends);
    const auto runs = on.reader->tick_runs_of(JobId{10}, wall_from_ms(0), wall_from_ms(INT64_MAX / 2), 5000);
    REQUIRE(runs);
    REQUIRE(runs->size() == 1301);
    for (const auto& run : *runs) REQUIRE(run.progress.state == model::RunState::Succeeded);
  }
}

TEST_CASE("apply: long rows are split into several statements") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    core::Changes ends;
    for (int i = 0; i < 200; ++i) {
      changes.new_runs.push_back(a_tick_run(1000 + i, 10, i));
      ends.updated_runs.push_back(succeeded(changes.new_runs.back()));
      ends.updated_runs.back().progress.outcome = full_outcome();
    }
    REQUIRE_APPLIED(on, changes);
    REQUIRE_APPLIED(on, ends);
    CHECK(on.reader->get_run(RunId{1199})->run.progress.outcome == full_outcome());
  }
}

TEST_CASE("apply: a version is closed without its definition, and the next one carries it on") {
  ON_EACH_STORE(on, led_backends()) {
    REQUIRE_APPLIED(on, new_job(10, "a"));
    core::Changes paused;
    auto closed = a_version(10, 1, "a");
    const auto definition = closed.definition;
    closed.definition = nullptr;
    closed.valid_to = wall_from_ms(kBase + 500);
    auto next = closed;
    next.version = 2;
    next.valid_from = wall_from_ms(kBase + 500);
    next.valid_to.reset();
    next.enabled = false;
    paused.versions = {closed, next};
    paused.jobs = {a_job(10, "a")};
    paused.jobs[0].version = 2;
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, paused);
    const auto versions = on.reader->versions_of(JobId{10});
    REQUIRE(versions->size() == 2);
    closed.definition = next.definition = definition;
    CHECK(difference((*versions)[0], closed) == "");
    CHECK(difference((*versions)[1], next) == "");

    // No version of job 99; none of job 10 that is old enough.
    for (auto wrong : {a_version(99, 1, "none"), a_version(10, 0, "a")}) {
      wrong.definition = nullptr;
      wrong.valid_to = wall_from_ms(kBase + 900);
      core::Changes closing;
      closing.versions = {wrong};
      const auto result = on.store->apply(Epoch{1}, closing);
      CHECK(result.outcome == ApplyOutcome::Failed);
      CHECK(result.permanent);
    }
  }
}

TEST_CASE("apply: a job's name is its own until it is deleted") {
  ON_EACH_STORE(on, led_backends()) {
    REQUIRE_APPLIED(on, new_job(10, "a"));
    const auto second = on.store->apply(Epoch{1}, new_job(11, "a"));
    CHECK(second.outcome == ApplyOutcome::Failed);
    CHECK(second.permanent);
    CHECK(on.reader->get_job("default", "a")->job.id == JobId{10});

    core::Changes anew = new_job(11, "a");  // deleted and made again in one batch
    anew.jobs.insert(anew.jobs.begin(), a_job(10, "a"));
    anew.jobs.push_back(a_job(10, "a"));
    anew.jobs.back().state = model::JobState::Deleted;
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, anew);
    CHECK(on.reader->get_job("default", "a")->job.id == JobId{11});
    CHECK(on.reader->saved_jobs(JobId{0}, 10)->size() == 2);
  }
}

TEST_CASE("apply: within a batch a name goes to another job only when an earlier row has freed it") {
  ON_EACH_STORE(on, led_backends()) {
    REQUIRE(on.store->apply(Epoch{1}, new_job(12, "held")).outcome == ApplyOutcome::Applied);
    core::Changes too_early = new_job(11, "held");
    too_early.jobs.push_back(a_job(12, "other"));
    const auto refused = on.store->apply(Epoch{1}, too_early);
    CHECK(refused.outcome == ApplyOutcome::Failed);
    CHECK(refused.permanent);
    core::Changes in_order = new_job(11, "held");
    in_order.jobs.insert(in_order.jobs.begin(), a_job(12, "other"));
    CHECK(on.store->apply(Epoch{1}, in_order).outcome == ApplyOutcome::Applied);
    CHECK(on.reader->get_job("default", "held")->job.id == JobId{11});
    CHECK(on.reader->get_job("default", "other")->job.id == JobId{12});
  }
}

TEST_CASE("apply: one-off jobs share names, and a repeat finds the same row") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    for (const std::int64_t hash : {1, 2}) {
      core::Changes one = new_job(kOneOffBit | hash, "adhoc");
      one.jobs[0].one_off = true;
      changes.jobs.push_back(one.jobs[0]);
      changes.versions.push_back(one.versions[0]);
    }
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, changes);
    REQUIRE_APPLIED(on, new_job(10, "adhoc"));
    CHECK(on.reader->saved_jobs(JobId{0}, 10)->size() == 1);
    CHECK(on.reader->list_jobs("default", "adh", 10, "")->size() == 1);
  }
}

TEST_CASE("apply: two gaps that begin with one tick contradict each other") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.gaps = {a_gap(10, 1, 3), a_gap(10, 5, 5)};
    for (int i = 0; i < 2; ++i) REQUIRE_APPLIED(on, changes);
    core::Changes other;
    other.gaps = {a_gap(10, 7, 8), a_gap(10, 1, 2)};
    const auto result = on.store->apply(Epoch{1}, other);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    const auto gaps = on.reader->gaps_of(JobId{10});
    REQUIRE(gaps->size() == 2);
    CHECK(difference((*gaps)[0], changes.gaps[0]) == "");
    CHECK(difference((*gaps)[1], changes.gaps[1]) == "");
    const auto newest = on.reader->newest_gaps_of(JobId{10}, 1);
    REQUIRE(newest->size() == 1);
    CHECK(difference((*newest)[0], changes.gaps[1]) == "");
    CHECK(on.reader->newest_gaps_of(JobId{10}, 5)->size() == 2);
    CHECK(on.reader->newest_gaps_of(JobId{11}, 5)->empty());
    const WallTime last = changes.gaps[1].from;
    CHECK(on.reader->gaps_before(JobId{10}, changes.gaps[1].version, last, 5)->size() == 2);
    CHECK(difference(on.reader->gaps_before(JobId{10}, changes.gaps[1].version, last, 1)->at(0), changes.gaps[1]) == "");
    CHECK(difference(on.reader->gaps_before(JobId{10}, 1, last - Millis{1}, 5)->at(0), changes.gaps[0]) == "");
    CHECK(on.reader->gaps_before(JobId{10}, changes.gaps[1].version + 1, last, 5)->empty());
  }
}

TEST_CASE("apply: attempts and worker lives are replaced by their newer form") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = everything();
    REQUIRE_APPLIED(on, changes);
    core::Changes later;
    later.attempts = changes.attempts;
    later.attempts[0].late = true;
    later.attempts[0].outcome = {};
    later.attempts.push_back({RunId{101}, 2, {"w2", "ef"}, Epoch{1}, wall_from_ms(kBase), false,
                              full_outcome()});
    later.lives = changes.lives;
    later.lives[0].left = wall_from_ms(kBase + 9);
    later.lives[0].why_left = nasty_text();
    REQUIRE_APPLIED(on, later);
    const auto attempts = on.reader->attempts_of(RunId{101});
    REQUIRE(attempts->size() == 2);
    CHECK(difference((*attempts)[0], later.attempts[0]) == "");
    CHECK(difference((*attempts)[1], later.attempts[1]) == "");
    const auto lives = on.reader->lives_of("w1", 10);
    REQUIRE(lives->size() == 1);
    CHECK((*lives)[0].left == later.lives[0].left);
    CHECK((*lives)[0].why_left == nasty_text());
    CHECK((*lives)[0].address == model::Address{"127.0.0.1", 4711});
  }
}
