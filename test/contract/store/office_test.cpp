// Taking office and reading what a Term starts from.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("office: a new database has no epoch, no uuid, no watermark and nothing to recover") {
  ON_EACH_STORE(on, fresh_backends()) {
    REQUIRE(on.office->probe());
    const auto marks = on.office->read_marks();
    REQUIRE(marks);
    CHECK(marks->epoch == Epoch{0});
    CHECK(marks->cluster_uuid == "");
    CHECK(to_ms(marks->database_now) > kBase);
    const auto recovered = on.office->recover();
    REQUIRE(recovered);
    CHECK_FALSE(recovered->watermark.has_value());
    CHECK(recovered->jobs.empty());
    CHECK(recovered->runs.empty());
  }
}

TEST_CASE("office: epochs only grow, and one candidate wins each") {
  ON_EACH_STORE(on, fresh_backends()) {
    REQUIRE(on.office->enter_office(Epoch{3}, "m1"));
    for (const std::int64_t lower : {1, 2, 3}) {
      const auto again = on.office->enter_office(Epoch{lower}, "m2");
      REQUIRE_FALSE(again);
      CHECK(again.error().code == ErrorCode::Conflict);
    }
    CHECK(on.office->read_marks()->epoch == Epoch{3});
    REQUIRE(on.office->enter_office(Epoch{9}, "m'2"));
    CHECK(on.office->read_marks()->epoch == Epoch{9});
  }
}

TEST_CASE("office: the first uuid is kept") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK(on.office->settle_uuid("first").value() == "first");
    CHECK(on.office->settle_uuid("second").value() == "first");
    CHECK(on.office->read_marks()->cluster_uuid == "first");
  }
}

TEST_CASE("office: the longest grant is kept") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK(on.office->settle_grant(Millis{5000}).value() == Millis{5000});
    CHECK(on.office->settle_grant(Millis{20'000}).value() == Millis{20'000});
    CHECK(on.office->settle_grant(Millis{9000}).value() == Millis{20'000});
  }
}

TEST_CASE("office: recover gives the watermark, the jobs and the unfinished runs as written") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.versions[0].valid_to = wall_from_ms(kBase + 50);
    changes.versions.push_back(a_version(10, 2, "a"));
    auto newest = *changes.versions[1].definition;
    newest.rules.overlap = model::Overlap::Allow;
    changes.versions[1].definition = std::make_shared<const model::JobDefinition>(newest);
    changes.versions[1].valid_from = wall_from_ms(kBase + 50);
    changes.jobs[0].version = 2;
    const auto other = new_job(11, "b");
    changes.jobs.push_back(other.jobs[0]);
    changes.versions.push_back(other.versions[0]);
    changes.new_runs = {a_tick_run(100, 10, 1), a_tick_run(101, 10, 2), a_manual_run(102, 11)};
    changes.new_runs[2].progress = {};
    changes.updated_runs = {};
    changes.watermark = wall_from_ms(kBase + 2000);
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    core::Changes ends;
    ends.updated_runs = {succeeded(changes.new_runs[0])};
    REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);

    const auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    CHECK(recovered->watermark == wall_from_ms(kBase + 2000));
    CHECK_FALSE(recovered->database_went_back);
    REQUIRE(recovered->jobs.size() == 2);
    const auto& job = recovered->jobs[0];
    CHECK(difference(job.job, changes.jobs[0]) == "");
    CHECK(*job.rules == newest.rules);
    CHECK(job.zone.own->name == "UTC");
    CHECK(job.valid_from == wall_from_ms(kBase + 50));
    CHECK(job.anchor == wall_from_ms(kBase + 5));
    REQUIRE(recovered->runs.size() == 2);
    CHECK(difference(recovered->runs[0], changes.new_runs[1]) == "");
    CHECK(difference(recovered->runs[1], changes.new_runs[2]) == "");
  }
}

TEST_CASE("office: what a job remembers beyond its runs is there for the next leader, and may be cleared") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.jobs[0].memory = {7, -1, wall_from_ms(kBase + 4321), wall_from_ms(kBase + 1234)};
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(on.reader->saved_jobs(JobId{}, 10)->at(0).memory == changes.jobs[0].memory);
    const auto recovered = on.office->recover();
    REQUIRE(recovered);
    CHECK(recovered->jobs.at(0).job.memory == changes.jobs[0].memory);

    core::Changes cleared;
    cleared.jobs = {changes.jobs[0]};
    cleared.jobs[0].memory = {};
    REQUIRE(on.store->apply(Epoch{1}, cleared).outcome == ApplyOutcome::Applied);
    CHECK(on.office->recover()->jobs.at(0).job.memory == model::JobMemory{});
  }
}

TEST_CASE("office: the next leader finds an unfinished slice of ticks and continues it") {
  ON_EACH_STORE(on, led_backends()) {
    const WallTime through = wall_from_ms(kBase + 2000);
    core::Changes changes = new_job(10, "a");
    changes.jobs[0].ticks_through = through + Millis{700};
    changes.watermark = core::Watermark(through, through + Millis{500}, JobId{12});
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(on.office->read_marks()->watermark == changes.watermark);
    CHECK(*on.reader->watermark() == changes.watermark);
    CHECK(on.reader->saved_jobs(JobId{}, 10)->at(0).ticks_through == through + Millis{700});
    const auto recovered = on.office->recover();
    REQUIRE(recovered);
    CHECK(recovered->watermark == changes.watermark);
    CHECK(recovered->jobs.at(0).job.ticks_through == through + Millis{700});

    core::Changes ends;
    ends.watermark = through + Millis{500};
    REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);
    CHECK_FALSE(on.office->recover()->watermark->is_parted());
  }
}

TEST_CASE("office: deleted jobs and one-offs are recovered only while a run of them is unfinished") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    const std::int64_t one_off = kOneOffBit | 77;
    for (const std::int64_t id : {std::int64_t{10}, std::int64_t{11}, one_off, one_off + 1}) {
      auto one = new_job(id, "j" + std::to_string(id));
      one.jobs[0].one_off = id >= one_off;
      if (id < one_off) one.jobs[0].state = model::JobState::Deleted;
      changes.jobs.push_back(one.jobs[0]);
      changes.versions.push_back(one.versions[0]);
    }
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, one_off)};
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    auto recovered = on.office->recover();
    REQUIRE(recovered);
    REQUIRE(recovered->jobs.size() == 2);
    CHECK(recovered->jobs[0].job.id == JobId{10});
    CHECK(recovered->jobs[1].job.id == JobId{one_off});
    CHECK(recovered->jobs[1].job.one_off);

    core::Changes ends;
    for (const auto& run : changes.new_runs) ends.updated_runs.push_back(succeeded(run));
    REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);
    recovered = on.office->recover();
    CHECK(recovered->jobs.empty());
    CHECK(recovered->runs.empty());
  }
}

TEST_CASE("office: a zone that this machine does not know stops the takeover and names the job") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    auto definition = *changes.versions[0].definition;
    definition.rules.schedule.time_zone = "Mars/Olympus";
    definition.rules.schedule.kind = model::ScheduleKind::Cron;
    definition.rules.schedule.cron = "0 3 * * *";
    changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto recovered = on.office->recover();
    REQUIRE_FALSE(recovered);
    CHECK(recovered.error().code == ErrorCode::Unsupported);
  }
}

TEST_CASE("office: an unknown zone that no schedule needs stops nothing") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    auto definition = *changes.versions[0].definition;
    definition.rules.schedule = {};
    definition.rules.schedule.time_zone = "Mars/Olympus";
    changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    CHECK(recovered->jobs.size() == 1);
  }
}

TEST_CASE("office: an unfinished run comes with the rules of its own version") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    auto promised = *changes.versions[0].definition;
    promised.rules.disconnect_grace = Millis{3'600'000};
    promised.rules.loss = model::LossPolicy::Never;
    changes.versions[0].definition = std::make_shared<const model::JobDefinition>(promised);
    changes.versions[0].valid_to = wall_from_ms(kBase + 50);
    changes.versions.push_back(a_version(10, 2, "a"));
    changes.jobs[0].version = 2;
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10)};
    changes.new_runs[0].version = 1;
    changes.new_runs[1].version = 2;
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    REQUIRE(recovered->older_rules.size() == 1);
    CHECK(recovered->older_rules[0].job == JobId{10});
    CHECK(recovered->older_rules[0].version == 1);
    CHECK(*recovered->older_rules[0].rules == promised.rules);
  }
}

TEST_CASE("office: attempts that were given up are recovered, proven and late ones are not") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10), a_manual_run(102, 10)};
    model::Outcome unproven;
    unproven.state = model::RunState::Lost;
    unproven.reason = model::Reason::WorkerLost;
    model::Outcome proven = unproven;
    proven.reason = model::Reason::AttemptDied;
    const auto attempt = [](std::int64_t run, AttemptNo number, const model::Outcome& outcome) {
      model::AttemptRow row;
      row.run = RunId{run};
      row.attempt = number;
      row.worker = {"w1", "i1"};
      row.outcome = outcome;
      return row;
    };
    changes.attempts = {attempt(100, 1, unproven), attempt(100, 2, proven), attempt(101, 1, unproven)};
    changes.attempts[2].late = true;
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    core::Changes ends;
    core::RunUpdate lost{RunId{102}, changes.new_runs[2].progress};
    lost.progress.state = model::RunState::Lost;
    lost.progress.attempt = 3;
    lost.progress.outcome = unproven;
    ends.updated_runs = {lost};
    REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);
    const auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    const std::vector<model::AttemptKey> expected = {{RunId{100}, 1}, {RunId{102}, 3}};
    CHECK(recovered->given_up == expected);
  }
}

TEST_CASE("office: a claim says who holds the epoch, where, and through which ZooKeeper") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK_FALSE(on.office->read_marks()->zookeeper.has_value());
    const KnownZookeeper one{{"one", 4'294'967'298}, 0, 0};
    REQUIRE(on.office->claim({Epoch{3}, {"m'1", "host:7100"}, one}));
    CHECK(on.office->read_marks()->holder.name == "m'1");
    CHECK(on.office->read_marks()->holder.address == "host:7100");
    CHECK(on.office->read_marks()->zookeeper == one);
    REQUIRE(on.office->claim({Epoch{4}, {"m2", "host:7200"}, {}}));
    CHECK(on.office->read_marks()->holder.address == "host:7200");
    CHECK(on.office->read_marks()->zookeeper == one);
    const KnownZookeeper two{{"two", 2}, 1, 1};
    CHECK_FALSE(on.office->claim({Epoch{4}, {"m3", ""}, two}));
    CHECK(on.office->read_marks()->zookeeper == one);
    REQUIRE(on.office->claim({Epoch{5}, {"m3", ""}, two}));
    CHECK(on.office->read_marks()->zookeeper == two);
  }
}

TEST_CASE("office: each Term is stored with its master, and a claim that is refused is none") {
  ON_EACH_STORE(on, fresh_backends()) {
    REQUIRE(on.office->claim({Epoch{3}, {"m'1", "host:7100"}, {}}));
    REQUIRE(on.office->claim({Epoch{5}, {"m2", ""}, {}}));
    CHECK_FALSE(on.office->claim({Epoch{4}, {"m3", ""}, {}}));
    const auto all = on.reader->terms_through(Epoch{9}, 10);
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 2);
    CHECK(all->at(0).epoch == Epoch{5});
    CHECK(all->at(0).holder == "m2");
    CHECK(all->at(1).holder == "m'1");
    CHECK(all->at(1).address == "host:7100");
    CHECK(on.reader->terms_through(Epoch{4}, 1)->at(0).epoch == Epoch{3});
    CHECK(on.reader->terms_through(Epoch{2}, 1)->empty());
  }
}

TEST_CASE("office: only the holder of the epoch in force settles the ZooKeeper and beats") {
  ON_EACH_STORE(on, fresh_backends()) {
    const KnownZookeeper one{{"one", 1}, 0, 0};
    const KnownZookeeper two{{"two", 2}, 1, 1};
    REQUIRE(on.office->claim({Epoch{3}, {"m1", ""}, one}));
    REQUIRE(on.office->settle_zookeeper(Epoch{3}, two));
    REQUIRE(on.office->settle_zookeeper(Epoch{3}, two));
    CHECK(on.office->read_marks()->zookeeper == two);
    const auto late = on.office->settle_zookeeper(Epoch{2}, one);
    REQUIRE_FALSE(late);
    CHECK(late.error().code == ErrorCode::Fenced);
    CHECK(on.office->read_marks()->zookeeper == two);
    const std::int64_t before = on.office->read_marks()->beats;
    REQUIRE(on.office->beat(Epoch{2}));
    CHECK(on.office->read_marks()->beats == before);
    REQUIRE(on.office->beat(Epoch{3}));
    CHECK(on.office->read_marks()->beats == before + 1);
  }
}

TEST_CASE("office: a batch without a watermark, as one whose leader holds ticks, counts as a beat") {
  ON_EACH_STORE(on, fresh_backends()) {
    REQUIRE(on.office->claim({Epoch{1}, {"m1", ""}, KnownZookeeper{{"one", 1}, 0, 0}}));
    const auto before = *on.office->read_marks();
    REQUIRE(on.store->apply(Epoch{1}, new_job(10, "a")).outcome == ApplyOutcome::Applied);
    CHECK(on.office->read_marks()->beats == before.beats + 1);
    core::Changes moves = new_job(11, "b");
    moves.watermark = wall_from_ms(kBase);
    REQUIRE(on.store->apply(Epoch{1}, moves).outcome == ApplyOutcome::Applied);
    const auto after = *on.office->read_marks();
    CHECK((after.beats > before.beats + 1 || after.watermark != before.watermark));
    REQUIRE(on.store->apply(Epoch{1}, {}).outcome == ApplyOutcome::Applied);
    CHECK(on.office->read_marks()->beats == after.beats);
  }
}

TEST_CASE("office: attempts under way are counted, and lives that another ZooKeeper saw are named") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_manual_run(100, 10), a_manual_run(101, 10), a_manual_run(102, 10)};
    changes.new_runs[0].progress.state = model::RunState::Dispatched;
    changes.new_runs[0].progress.worker = {"w1", "i1"};
    changes.new_runs[1].progress.state = model::RunState::Running;
    changes.new_runs[1].progress.worker = {"w2", "i2"};
    changes.new_runs[2].progress = {};
    core::WorkerLife seen;
    seen.key = {"w2", "i2"};
    seen.seen_in = 2;
    changes.lives = {seen};
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(on.office->count_held() == std::int64_t{2});
    CHECK(on.office->recover()->unseen.empty());
    REQUIRE(on.office->settle_zookeeper(Epoch{1}, {{"two", 2}, 2, 2}));
    CHECK(on.office->recover()->zookeeper_number == 2);
    CHECK(on.office->recover()->unseen == std::vector<model::WorkerKey>{{"w1", "i1"}});
    CHECK(on.reader->lives_of("w2", 1)->at(0).seen_in == 2);
  }
}
