// What readers get.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

void fill(const Backend& on) {
  core::Changes changes = new_job(10, "alpha");
  auto add = [&](std::int64_t id, const std::string& name) {
    const auto one = new_job(id, name);
    changes.jobs.push_back(one.jobs[0]);
    changes.versions.push_back(one.versions[0]);
  };
  add(11, "alphabet");
  add(12, "al%");
  add(13, "beta");
  for (int i = 0; i < 6; ++i) changes.new_runs.push_back(a_tick_run(100 + i, 10 + i % 2, i));
  changes.new_runs[5].space = "other";
  REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
  core::Changes ends;
  ends.updated_runs = {succeeded(changes.new_runs[0]), succeeded(changes.new_runs[1])};
  REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);
}

std::vector<std::int64_t> ids(const Result<std::vector<RunRow>>& rows) {
  REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
  std::vector<std::int64_t> out;
  for (const auto& row : *rows) out.push_back(row.run.id.value);
  return out;
}

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("reader: lists runs newest first, by job, state, time and page") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    RunQuery query;
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 103, 102, 101, 100});
    query.limit = 2;
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 103});
    query.before = RunId{103};
    CHECK(ids(on.reader->list_runs(query)) == Ids{102, 101});
    query = {};
    query.job = "alpha";
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 102, 100});
    query.states = {model::RunState::Succeeded, model::RunState::Failed};
    CHECK(ids(on.reader->list_runs(query)) == Ids{100});
    query = {};
    query.states = {model::RunState::Dispatched};
    query.since = wall_from_ms(kBase + 3000);
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 103});
    query = {};
    query.space = "other";
    const auto rows = on.reader->list_runs(query);
    CHECK(ids(rows) == Ids{105});
    CHECK((*rows)[0].job_name == "alphabet");
    query.job = "alpha' OR 1=1 --";
    CHECK(ids(on.reader->list_runs(query)).empty());
  }
}

TEST_CASE("reader: lists the runs of one worker, by their newest attempt") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    core::Changes elsewhere;
    model::Run moved = a_tick_run(104, 10, 4);
    moved.progress.worker.id = "w-elsewhere";
    elsewhere.updated_runs = {{moved.id, moved.progress}};
    REQUIRE(on.store->apply(Epoch{1}, elsewhere).outcome == ApplyOutcome::Applied);
    RunQuery query;
    query.worker = "w-elsewhere";
    CHECK(ids(on.reader->list_runs(query)) == Ids{104});
    query.worker = a_tick_run(103, 11, 3).progress.worker.id;
    CHECK(ids(on.reader->list_runs(query)) == Ids{103, 102, 101, 100});
    query.since = wall_from_ms(kBase + 3000);
    CHECK(ids(on.reader->list_runs(query)) == Ids{103});
    query.worker = "nobody";
    CHECK(ids(on.reader->list_runs(query)).empty());
  }
}

TEST_CASE("reader: gives the newest run of each job that has one") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    const auto newest = on.reader->newest_runs_of({JobId{10}, JobId{11}, JobId{12}, JobId{99}});
    REQUIRE(newest.has_value());
    REQUIRE(newest->size() == 2);
    CHECK(newest->at(JobId{10}).run.id == RunId{104});
    CHECK(newest->at(JobId{11}).run.id == RunId{105});
    CHECK(newest->at(JobId{10}).job_name == "alpha");
    CHECK(on.reader->newest_runs_of({})->empty());
  }
}

TEST_CASE("reader: separates the runs of a saved job from those of one-offs with its name") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    core::Changes changes;
    for (const int one : {1, 2}) {  // two definitions
      auto row = new_job(kOneOffBit | one, "alpha");
      row.jobs[0].one_off = true;
      changes.jobs.push_back(row.jobs[0]);
      changes.versions.push_back(row.versions[0]);
      changes.new_runs.push_back(a_manual_run(110 + one, kOneOffBit | one));
    }
    changes.new_runs.push_back(a_manual_run(115, kOneOffBit | 1));
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    RunQuery query;
    query.job = "alpha";
    CHECK(ids(on.reader->list_runs(query)) == Ids{115, 112, 111, 104, 102, 100});
    query.one_off = false;
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 102, 100});
    query.limit = 2;
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 102});
    query.one_off = true;
    CHECK(ids(on.reader->list_runs(query)) == Ids{115, 112});
    query.before = RunId{112};
    CHECK(ids(on.reader->list_runs(query)) == Ids{111});
    query.job = "beta";
    CHECK(ids(on.reader->list_runs(query)).empty());
    query = {};
    query.one_off = true;  // of no name in particular: no condition
    CHECK(ids(on.reader->list_runs(query)).size() == 8);
  }
}

TEST_CASE("reader: lists the newest runs of a name with more one-offs than fit into one statement") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    for (int one = 1; one <= 1002; ++one) {
      auto row = new_job(kOneOffBit | one, "alpha");
      row.jobs[0].one_off = true;
      changes.jobs.push_back(row.jobs[0]);
      changes.versions.push_back(row.versions[0]);
      if (one < 20 || one == 1002) changes.new_runs.push_back(a_manual_run(2000 - one, kOneOffBit | one));
      if (one % 50 != 0) continue;
      REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
      changes = {};
    }
    const auto saved = new_job(10, "alpha");
    changes.jobs.push_back(saved.jobs[0]);
    changes.versions.push_back(saved.versions[0]);
    changes.new_runs.push_back(a_manual_run(3000, 10));
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    RunQuery query;
    query.job = "alpha";
    query.limit = 3;
    CHECK(ids(on.reader->list_runs(query)) == Ids{3000, 1999, 1998});
    query.one_off = true;
    CHECK(ids(on.reader->list_runs(query)) == Ids{1999, 1998, 1997});
    query.before = RunId{1982};
    CHECK(ids(on.reader->list_runs(query)) == Ids{1981, 998});
    query.one_off = false;
    query.before = std::nullopt;
    CHECK(ids(on.reader->list_runs(query)) == Ids{3000});
  }
}

TEST_CASE("reader: finds one run, or returns NotFound") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    const auto row = on.reader->get_run(RunId{101});
    REQUIRE(row);
    CHECK(row->job_name == "alphabet");
    CHECK(row->run.progress.state == model::RunState::Succeeded);
    CHECK(on.reader->get_run(RunId{999}).error().code == ErrorCode::NotFound);
    CHECK(on.reader->attempts_of(RunId{999})->empty());
  }
}

TEST_CASE("reader: lists jobs by prefix, in order, with signs of LIKE taken as they are") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    const auto names = [&](const std::string& prefix, std::int32_t limit = 100, const std::string& after = "") {
      std::vector<std::string> out;
      const auto jobs = on.reader->list_jobs("default", prefix, limit, after);
      REQUIRE(jobs);
      for (const auto& row : *jobs) out.push_back(row.job.name);
      return out;
    };
    using Names = std::vector<std::string>;
    CHECK(names("") == Names{"al%", "alpha", "alphabet", "beta"});
    CHECK(names("", 2) == Names{"al%", "alpha"});
    CHECK(names("", 2, "alpha") == Names{"alphabet", "beta"});
    CHECK(names("", 2, "al") == Names{"al%", "alpha"});  // a name that no job has
    CHECK(names("alpha", 100, "alpha") == Names{"alphabet"});
    CHECK(names("alpha", 100, "b").empty());
    CHECK(names("b", 100, "alpha") == Names{"beta"});
    CHECK(names("", 2, "beta").empty());
    CHECK(names("alpha") == Names{"alpha", "alphabet"});
    CHECK(names("al%") == Names{"al%"});
    CHECK(names("al_").empty());
    CHECK(names("!").empty());
    CHECK(on.reader->list_jobs("elsewhere", "", 10, "")->empty());
  }
}

TEST_CASE("reader: finds a job by its exact name, and not when it is deleted") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    CHECK(on.reader->get_job("default", "alpha")->job.id == JobId{10});
    for (const std::string name : {"Alpha", "alpha ", "alph", ""}) {
      CHECK(on.reader->get_job("default", name).error().code == ErrorCode::NotFound);
    }
    core::Changes gone;
    gone.jobs = {a_job(10, "alpha")};
    gone.jobs[0].state = model::JobState::Deleted;
    REQUIRE(on.store->apply(Epoch{1}, gone).outcome == ApplyOutcome::Applied);
    CHECK(on.reader->get_job("default", "alpha").error().code == ErrorCode::NotFound);
    CHECK(on.reader->list_jobs("default", "alpha", 10, "")->size() == 1);
    RunQuery query;
    query.job = "alpha";  // its history stays
    CHECK(ids(on.reader->list_runs(query)) == Ids{104, 102, 100});
  }
}

TEST_CASE("reader: finds the latest deleted job by its exact name") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    CHECK(on.reader->last_deleted("default", "alpha").error().code == ErrorCode::NotFound);
    core::Changes gone;
    gone.jobs = {a_job(10, "alpha")};
    gone.jobs[0].state = model::JobState::Deleted;
    gone.jobs[0].changed = wall_from_ms(kBase + 50);
    REQUIRE(on.store->apply(Epoch{1}, gone).outcome == ApplyOutcome::Applied);
    CHECK(on.reader->last_deleted("default", "alpha")->job.id == JobId{10});
    CHECK(on.reader->last_deleted("default", "alpha")->version.definition != nullptr);
    for (const std::string name : {"Alpha", "alpha ", "alph", ""}) {
      CHECK(on.reader->last_deleted("default", name).error().code == ErrorCode::NotFound);
    }
    CHECK_FALSE(on.reader->last_deleted("elsewhere", "alpha"));
    core::Changes again = new_job(40, "alpha");
    again.jobs[0].state = model::JobState::Deleted;
    again.jobs[0].changed = wall_from_ms(kBase + 60);
    REQUIRE(on.store->apply(Epoch{1}, again).outcome == ApplyOutcome::Applied);
    CHECK(on.reader->last_deleted("default", "alpha")->job.id == JobId{40});
  }
}

TEST_CASE("reader: gives what runs, of any version") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    const auto definition = on.reader->definition_of(JobId{10}, 1);
    REQUIRE(definition);
    CHECK(**definition == *a_version(10, 1, "alpha").definition);
    CHECK(on.reader->definition_of(JobId{10}, 2).error().code == ErrorCode::NotFound);
  }
}

TEST_CASE("reader: pages through jobs, ticks, runs and attempts for verify") {
  ON_EACH_STORE(on, led_backends()) {
    fill(on);
    CHECK(on.reader->saved_jobs(JobId{0}, 3)->size() == 3);
    CHECK(on.reader->saved_jobs(JobId{12}, 3)->size() == 1);
    const auto ticks = on.reader->tick_runs_of(JobId{10}, wall_from_ms(kBase),
                                               wall_from_ms(kBase + 4000), 10);
    REQUIRE(ticks->size() == 2);  // after excludes its own moment, through includes it
    CHECK((*ticks)[0].id == RunId{102});
    CHECK((*ticks)[1].id == RunId{104});
    CHECK(on.reader->runs_after(RunId{103}, 10)->size() == 2);

    core::Changes changes;
    for (const AttemptNo attempt : {1, 2, 3}) {
      changes.attempts.push_back({RunId{100}, attempt, {"w", "i"}, Epoch{1}, {}, false, {}});
    }
    changes.attempts.push_back({RunId{101}, 1, {"w", "i"}, Epoch{1}, {}, false, {}});
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto attempts = on.reader->attempts_after(RunId{100}, 2, 10);
    REQUIRE(attempts->size() == 2);
    CHECK((*attempts)[0].attempt == 3);
    CHECK((*attempts)[1].run == RunId{101});
  }
}

TEST_CASE("reader: lives come newest first") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    for (int i = 0; i < 3; ++i) {
      changes.lives.push_back({{"w", "i" + std::to_string(i)}, {"h", 1}, "p", wall_from_ms(kBase + i),
                               {}, ""});
    }
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto lives = on.reader->lives_of("w", 2);
    REQUIRE(lives->size() == 2);
    CHECK((*lives)[0].key.incarnation == "i2");
    CHECK((*lives)[1].key.incarnation == "i1");
  }
}

TEST_CASE("recovery: of each worker the newest life, open or not, and whether it was forgotten") {
  ON_EACH_STORE(on, led_backends()) {
    const auto life = [](const char* id, const char* incarnation, int joined, std::optional<int> left) {
      core::WorkerLife row{{id, incarnation}, {"h", 1}, "p", wall_from_ms(kBase + joined), {}, ""};
      if (left) row.left = wall_from_ms(kBase + *left);
      return row;
    };
    core::Changes changes;
    changes.lives = {life("a", "a1", 1, 5),  life("a", "a2", 7, 9),  life("b", "b1", 1, 4),
                     life("b", "b2", 1, {}), life("c", "c1", 3, {}), life("d", "d1", 2, 3)};
    changes.lives[5].forgotten = true;
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto recovered = on.office->recover();
    REQUIRE(recovered.has_value());
    const auto& lives = recovered->newest_lives;
    REQUIRE(lives.size() == 4);
    CHECK(lives[0].key.incarnation == "a2");
    CHECK(lives[0].left == wall_from_ms(kBase + 9));
    CHECK(lives[1].key.incarnation == "b2");
    CHECK_FALSE(lives[1].left.has_value());
    CHECK(lives[2].key.incarnation == "c1");
    CHECK_FALSE(lives[2].forgotten);
    CHECK(lives[3].forgotten);
    CHECK(lives[3].pool == "p");
  }
}
