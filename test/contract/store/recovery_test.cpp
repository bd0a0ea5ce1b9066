// What a Term learns of the Terms before it beyond the rows themselves: failures counted, attempts given
// up, definitions told apart.
#include <doctest/doctest.h>

#include "master/core/definition_hash.h"
#include "master/store/runs_without_job.h"
#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

model::Outcome ended(model::RunState state, model::Reason reason) {
  model::Outcome outcome;
  outcome.state = state;
  outcome.reason = reason;
  return outcome;
}

const model::Outcome kFailed = ended(model::RunState::Failed, model::Reason::ExitStatus);
const model::Outcome kTimedOut = ended(model::RunState::TimedOut, model::Reason::AttemptTimeout);
const model::Outcome kGivenUp = ended(model::RunState::Lost, model::Reason::WorkerLost);

model::AttemptRow an_attempt(std::int64_t run, AttemptNo number, const model::Outcome& outcome,
                             bool late = false) {
  model::AttemptRow row;
  row.run = RunId{run};
  row.attempt = number;
  row.worker = {"w1", "i1"};
  row.epoch = Epoch{1};
  row.late = late;
  row.outcome = outcome;
  return row;
}

core::RunUpdate ended_run(const model::Run& run, AttemptNo attempt, const model::Outcome& outcome) {
  core::RunUpdate update{run.id, run.progress};
  update.progress.state = outcome.state;
  update.progress.reason = outcome.reason;
  update.progress.attempt = attempt;
  update.progress.outcome = outcome;
  return update;
}

#define REQUIRE_STORED(on, changes)                                  \
  do {                                                               \
    const auto stored = (on).store->apply(Epoch{1}, (changes));      \
    REQUIRE_MESSAGE(stored.outcome == ApplyOutcome::Applied, stored.detail); \
  } while (false)

core::Recovered recovered_from(const Backend& on) {
  auto recovered = on.office->recover();
  REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
  return std::move(*recovered);
}

}  // namespace

TEST_CASE("recovery: rules come with the handler that they need, of edited versions too") {
  ON_EACH_STORE(on, led_backends()) {
    const auto define = [&](core::Changes& changes, const char* handler) {
      auto definition = std::make_shared<model::JobDefinition>(*changes.versions.back().definition);
      definition->work.handler = handler;
      // What looks like the usual handler stands inside of a text, or names another thing.
      definition->work.argv = {"\"handler\":\"command\",\"interpreter\":"};
      definition->work.environment = {{"handler", "command"}};
      changes.versions.back().definition = std::move(definition);
    };
    for (const auto& [id, handler] : {std::pair{10, "sums"}, {11, "command"}, {12, "sums"}}) {
      core::Changes changes = new_job(id, "job" + std::to_string(id));
      define(changes, handler);
      if (id == 12) changes.new_runs = {a_manual_run(100, 12)};
      REQUIRE_STORED(on, changes);
    }
    core::Changes edited = new_job(12, "job12");
    edited.versions[0].version = edited.jobs[0].version = 2;
    define(edited, "products");
    REQUIRE_STORED(on, edited);

    const core::Recovered recovered = recovered_from(on);
    REQUIRE(recovered.jobs.size() == 3);
    CHECK(recovered.jobs[0].rules->handler == "sums");
    CHECK(recovered.jobs[1].rules->handler.empty());
    CHECK(recovered.jobs[2].rules->handler == "products");
    REQUIRE(recovered.older_rules.size() == 1);
    CHECK(recovered.older_rules[0].rules->handler == "sums");
  }
}

TEST_CASE("recovery: failures of unfinished runs are counted, losses and late results are not") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    for (std::int64_t id = 100; id < 105; ++id) changes.new_runs.push_back(a_manual_run(id, 10));
    changes.new_runs[0].progress.failures = 77;  // only the attempts count
    changes.new_runs[4].progress.state = model::RunState::Queued;
    changes.new_runs[4].progress.attempt = 0;
    const auto killed = ended(model::RunState::Killed, model::Reason::WorkerLost);
    changes.attempts = {
        an_attempt(100, 1, kFailed), an_attempt(100, 2, kGivenUp), an_attempt(100, 3, kTimedOut),
        an_attempt(100, 4, killed),  an_attempt(101, 1, kFailed, true), an_attempt(101, 2, kFailed),
        an_attempt(103, 1, kFailed)};
    REQUIRE_STORED(on, changes);
    core::Changes ends;
    ends.updated_runs = {succeeded(changes.new_runs[3])};
    REQUIRE_STORED(on, ends);

    const auto runs = recovered_from(on).runs;
    REQUIRE(runs.size() == 4);
    CHECK(runs[0].progress.failures == 2);
    CHECK(runs[1].progress.failures == 1);
    CHECK(runs[2].progress.failures == 0);
    CHECK(runs[3].id == RunId{104});
    CHECK(runs[3].progress.failures == 0);
  }
}

TEST_CASE("recovery: failed attempts of unfinished runs come by exit status, so that a rule may leave some out") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    for (std::int64_t id = 100; id < 104; ++id) changes.new_runs.push_back(a_manual_run(id, 10));
    const auto exited = [](std::int32_t status, model::Outcome outcome = kFailed) {
      outcome.exit_status = status;
      return outcome;
    };
    changes.attempts = {
        an_attempt(100, 1, exited(75)), an_attempt(100, 2, exited(2)), an_attempt(100, 3, exited(75)),
        an_attempt(100, 4, exited(75, kTimedOut)), an_attempt(100, 5, exited(75, kGivenUp)),
        an_attempt(100, 6, exited(75), true), an_attempt(100, 7, exited(-1)),
        an_attempt(102, 1, exited(255)), an_attempt(103, 1, exited(75))};
    REQUIRE_STORED(on, changes);
    core::Changes ends;
    ends.updated_runs = {succeeded(changes.new_runs[3])};
    REQUIRE_STORED(on, ends);

    const auto recovered = recovered_from(on);
    REQUIRE(recovered.runs.size() == 3);
    CHECK(recovered.runs[0].progress.failures == 5);
    const std::vector<core::RecoveredExits> expected = {
        {RunId{100}, 2, 1}, {RunId{100}, 75, 2}, {RunId{102}, 255, 1}};
    CHECK(recovered.failed_exits == expected);
  }
}

TEST_CASE("recovery: a late result does not take away when its attempt was dispatched") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a"), late;
    changes.new_runs = {a_manual_run(100, 10)};
    changes.attempts = {an_attempt(100, 1, kGivenUp)};
    changes.attempts[0].dispatched = wall_from_ms(kBase + 30);
    REQUIRE_STORED(on, changes);
    late.attempts = {an_attempt(100, 1, kFailed, true)};
    late.attempts[0].dispatched.reset();
    REQUIRE_STORED(on, late);

    const auto runs = recovered_from(on).runs;
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].progress.first_dispatched == wall_from_ms(kBase + 30));
    CHECK(runs[0].progress.failures == 0);
  }
}

TEST_CASE("recovery: an unfinished run is told when its first attempt was dispatched, by the rows of attempts") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    for (std::int64_t id = 100; id < 103; ++id) changes.new_runs.push_back(a_manual_run(id, 10));
    changes.new_runs[0].progress.first_dispatched = wall_from_ms(kBase + 77);  // only the attempts count
    const auto dispatched_at = [](model::AttemptRow row, std::int64_t ms) {
      row.dispatched = wall_from_ms(kBase + ms);
      return row;
    };
    changes.attempts = {dispatched_at(an_attempt(100, 1, kGivenUp), 30), dispatched_at(an_attempt(100, 2, kFailed), 50),
                        dispatched_at(an_attempt(101, 1, kFailed, true), 10), an_attempt(101, 2, kFailed)};
    REQUIRE_STORED(on, changes);

    const auto runs = recovered_from(on).runs;
    REQUIRE(runs.size() == 3);
    CHECK(runs[0].progress.first_dispatched == wall_from_ms(kBase + 30));
    CHECK(runs[1].progress.first_dispatched == wall_from_ms(kBase + 10));
    CHECK_FALSE(runs[2].progress.first_dispatched);
  }
}

TEST_CASE("recovery: a loss that its worker reported is proven, and is not given up") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10), a_manual_run(102, 10)};
    auto proven = kGivenUp;
    proven.started = wall_from_ms(kBase + 3);
    changes.attempts = {an_attempt(100, 1, proven), an_attempt(100, 2, kGivenUp)};
    REQUIRE_STORED(on, changes);
    core::Changes ends;
    ends.updated_runs = {ended_run(changes.new_runs[1], 1, proven),
                         ended_run(changes.new_runs[2], 4, kGivenUp)};
    REQUIRE_STORED(on, ends);
    const std::vector<model::AttemptKey> expected = {{RunId{100}, 2}, {RunId{102}, 4}};
    CHECK(recovered_from(on).given_up == expected);
  }
}

TEST_CASE("recovery: a lost run whose late result has come is not given up any more") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10)};
    REQUIRE_STORED(on, changes);
    core::Changes ends;
    for (const auto& run : changes.new_runs) ends.updated_runs.push_back(ended_run(run, 2, kGivenUp));
    ends.attempts = {an_attempt(100, 1, kGivenUp)};
    REQUIRE_STORED(on, ends);
    core::Changes late;
    late.attempts = {an_attempt(100, 2, full_outcome(), true), an_attempt(100, 1, kFailed, true)};
    REQUIRE_STORED(on, late);
    const std::vector<model::AttemptKey> expected = {{RunId{101}, 2}};
    CHECK(recovered_from(on).given_up == expected);
  }
}

TEST_CASE("recovery: among very many earlier attempts the newest are looked at for given up ones") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    changes.attempts = {an_attempt(1, 1, kGivenUp), an_attempt(2, 1, kGivenUp),
                        an_attempt(2, 2, kGivenUp)};
    const auto others = static_cast<std::int64_t>(kGivenUpAttempts) - 2;
    for (std::int64_t i = 0; i < others; ++i) changes.attempts.push_back(an_attempt(10 + i, 1, kFailed));
    changes.attempts.back().outcome = kGivenUp;
    REQUIRE_STORED(on, changes);
    const std::vector<model::AttemptKey> expected = {
        {RunId{2}, 1}, {RunId{2}, 2}, {RunId{10 + others - 1}, 1}};
    CHECK(recovered_from(on).given_up == expected);
  }
}

TEST_CASE("recovery: each job comes with the fingerprint of its newest definition") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    const auto other = new_job(11, "b");
    changes.jobs.push_back(other.jobs[0]);
    changes.versions.push_back(other.versions[0]);
    REQUIRE_STORED(on, changes);
    auto jobs = recovered_from(on).jobs;
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].definition_hash == core::definition_hash(*changes.versions[0].definition));
    CHECK(jobs[1].definition_hash == core::definition_hash(*other.versions[0].definition));
    CHECK(jobs[0].definition_hash != jobs[1].definition_hash);

    core::Changes edit;
    edit.jobs = {changes.jobs[0]};
    edit.jobs[0].version = 2;
    edit.versions = {a_version(10, 2, "a")};
    auto edited = *edit.versions[0].definition;
    edited.work.argv.push_back("more");
    edit.versions[0].definition = std::make_shared<const model::JobDefinition>(edited);
    REQUIRE_STORED(on, edit);
    CHECK(recovered_from(on).jobs[0].definition_hash == core::definition_hash(edited));

    core::Changes pause;  // a version without a definition carries on the one before it
    pause.jobs = edit.jobs;
    pause.jobs[0].version = 3;
    pause.versions = {a_version(10, 3, "a")};
    pause.versions[0].definition = nullptr;
    pause.versions[0].enabled = false;
    REQUIRE_STORED(on, pause);
    CHECK(recovered_from(on).jobs[0].definition_hash == core::definition_hash(edited));
  }
}

TEST_CASE("recovery: drains in force come back as they were last set, resumed ones do not") {
  ON_EACH_STORE(on, led_backends()) {
    model::WorkerDrain first;
    first.worker = "w1";
    first.deadline = wall_from_ms(5000);
    first.principal = "ann";
    first.why = "disk";
    first.changed = wall_from_ms(1000);
    model::WorkerDrain second = first;
    second.worker = "w2";
    second.deadline.reset();
    core::Changes changes;
    changes.drains = {first, second};
    REQUIRE_STORED(on, changes);
    REQUIRE_STORED(on, changes);
    CHECK(recovered_from(on).drains == std::vector<model::WorkerDrain>{first, second});
    second.draining = false;
    core::Changes resumed;
    resumed.drains = {second};
    REQUIRE_STORED(on, resumed);
    CHECK(recovered_from(on).drains == std::vector<model::WorkerDrain>{first});
  }
}

TEST_CASE("recovery: freezes come back until they are made up for, and all can be read") {
  ON_EACH_STORE(on, led_backends()) {
    model::Freeze all{5, "", wall_from_ms(1000), wall_from_ms(9000), {}, "ann", nasty_text(), JobId{}, false};
    model::Freeze one{6, "fin", wall_from_ms(1000), wall_from_ms(9000), wall_from_ms(4000), "bob", "", JobId{7}, false};
    core::Changes changes;
    changes.freezes = {all, one};
    REQUIRE_STORED(on, changes);
    REQUIRE_STORED(on, changes);
    CHECK(recovered_from(on).freezes == std::vector<model::Freeze>{all, one});
    one.done = true;
    all.until = wall_from_ms(20'000);
    core::Changes later;
    later.freezes = {one, all};
    later.watermark = core::Watermark(wall_from_ms(5000));
    REQUIRE_STORED(on, later);
    CHECK(recovered_from(on).freezes == std::vector<model::Freeze>{all});
    CHECK(on.reader->freezes() == std::vector<model::Freeze>{one, all});
  }
}

TEST_CASE("recovery: of each worker and state folder the last start comes back, and all can be read") {
  ON_EACH_STORE(on, led_backends()) {
    const auto start = [](const char* worker, const char* id, const char* home, std::int64_t number) {
      return model::WorkerStart{{worker, id}, home, "default", wall_from_ms(1000 + number), number};
    };
    core::Changes changes;
    changes.starts = {start("w1", "a", "h1", 11), start("w1", "b", "h1", 12), start("w1", "c", "h2", 13),
                      start("w2", "d", "h1", 14)};
    REQUIRE_STORED(on, changes);
    REQUIRE_STORED(on, changes);
    const auto recovered = recovered_from(on);
    CHECK(recovered.starts == std::vector{changes.starts[3], changes.starts[2], changes.starts[1]});
    core::Changes again;  // a row that stands stays as it is
    again.starts = {start("w2", "d", "h1", 15)};
    REQUIRE_STORED(on, again);
    CHECK(on.reader->starts_after(0, 100) == changes.starts);
    CHECK(on.reader->starts_after(12, 1) == std::vector{changes.starts[2]});
    CHECK(on.reader->starts_after(14, 100)->empty());
  }
}

TEST_CASE("recovery: a run of a worker start comes back with the start that it names") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    model::Run run = a_manual_run(100, 10);
    run.kind = model::RunKind::WorkerStart;
    run.principal = model::kStartPrincipal;
    run.request_key = model::start_key(run.job, {"w1", "0123"});
    run.progress.state = model::RunState::Waiting;
    run.progress.reason = model::Reason::Jitter;
    changes.new_runs = {run};
    REQUIRE_STORED(on, changes);
    const auto recovered = recovered_from(on);
    REQUIRE(recovered.runs.size() == 1);
    CHECK(recovered.runs[0].kind == model::RunKind::WorkerStart);
    CHECK(recovered.runs[0].request_key == run.request_key);
  }
}

TEST_CASE("recovery: confirmed deaths come back for lives with attempts, until such a life came back") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10)};
    changes.new_runs[1].progress.worker = {"w2", "ef"};
    model::WorkerDeath death{{"w1", "abcd"}, "ann", nasty_text(), Epoch{1}, wall_from_ms(kBase + 5), {}};
    model::WorkerDeath other{{"w1", "older"}, "ann", "", Epoch{1}, wall_from_ms(kBase + 6), {}};
    changes.deaths = {death, other};
    REQUIRE_STORED(on, changes);
    REQUIRE_STORED(on, changes);
    CHECK(recovered_from(on).confirmed == std::vector<model::WorkerDeath>{death});
    CHECK(on.reader->deaths_of("") == std::vector<model::WorkerDeath>{death, other});
    CHECK(on.reader->deaths_of("w1")->size() == 2);
    CHECK(on.reader->deaths_of("w2")->empty());
    death.came_back = wall_from_ms(kBase + 9);
    core::Changes back;
    back.deaths = {death};
    REQUIRE_STORED(on, back);
    CHECK(recovered_from(on).confirmed.empty());
    CHECK(on.reader->deaths_of("w1")->at(0) == death);
  }
}

TEST_CASE("recovery: rewound ticks keep their runs, and the next leader learns which") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "nightly");
    changes.versions.push_back(a_version(10, 2, "nightly"));
    changes.versions[0].valid_to = changes.versions[1].valid_from = wall_from_ms(kBase + 8000);
    changes.jobs[0].version = 2;
    const WallTime farthest = wall_from_ms(kBase + 9500);  // by the job's own row
    changes.jobs[0].ticks_through = farthest;
    changes.new_runs = {a_tick_run(100, 10, 1), a_tick_run(101, 10, 6)};
    changes.gaps = {a_gap(10, 2, 5), a_gap(10, 7, 9)};
    changes.watermark = wall_from_ms(kBase + 9000);
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(on.office->recover()->taken.empty());
    const WallTime to = wall_from_ms(kBase + 4000);
    const auto beyond = on.office->gaps_beyond(to);
    REQUIRE(beyond);
    REQUIRE(beyond->size() == 2);

    const WallTime other = wall_from_ms(kBase + 8000);
    Rewind rewind{Epoch{1}, other, other, to, {(*beyond)[1]}, {(*beyond)[0]}};
    rewind.cut[0].to = to;
    rewind.cut[0].count = 3;
    CHECK(on.office->rewind(rewind).error().code == ErrorCode::Conflict);  // another watermark
    rewind.from = rewind.from_through = wall_from_ms(kBase + 9000);
    rewind.epoch = Epoch{2};
    CHECK(on.office->rewind(rewind).error().code == ErrorCode::Conflict);  // an epoch that is not in force
    CHECK(on.reader->rewinds()->empty());
    REQUIRE(on.office->enter_office(Epoch{2}, "operator"));
    REQUIRE(on.office->rewind(rewind));

    CHECK(on.office->read_marks()->watermark == to);
    CHECK(*on.reader->rewinds() == std::vector<PastRewind>{{Epoch{2}, farthest, to}});
    const auto gaps = on.reader->gaps_of(JobId{10});
    REQUIRE(gaps->size() == 1);
    CHECK(difference(gaps->front(), rewind.cut[0]) == "");
    const auto versions = on.reader->versions_of(JobId{10});
    REQUIRE(versions.has_value());
    for (const auto& version : *versions) {
      CHECK(version.valid_from <= to);
      CHECK(version.valid_to.value_or(to) <= to);
    }
    const auto taken = on.office->recover()->taken;
    CHECK(taken == std::vector<std::pair<JobId, WallTime>>{{JobId{10}, wall_from_ms(kBase + 6000)}});
  }
}

TEST_CASE("recovery: a run whose job a restored database lacks does not keep a master from office") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 11), a_manual_run(102, 10)};
    REQUIRE_STORED(on, changes);

    core::Recovered recovered = recovered_from(on);
    leave_out_runs_without_job(recovered);
    REQUIRE(recovered.runs.size() == 2);
    CHECK(recovered.runs[0].id == RunId{100});
    CHECK(recovered.runs[1].id == RunId{102});
    CHECK(recovered.database_went_back);
  }
}
