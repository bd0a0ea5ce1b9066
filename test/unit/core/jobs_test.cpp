#include <doctest/doctest.h>

#include "harness.h"
#include "master/core/definition_hash.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::RunState;

TEST_CASE("jobs: the same definition again changes nothing and writes nothing") {
  Harness h;
  const JobId first = h.apply(a_job().every(5s));
  const JobId second = h.apply(a_job().every(5s));
  CHECK(first == second);
  CHECK(h.last.changes.empty());
  CHECK(!std::get<JobApplied>(h.last.replies.at(0).body).changed);
}

TEST_CASE("jobs: the same definition is known again after a takeover") {
  Harness before;
  before.apply(a_job().every(5s));
  Harness h(before.recovered(), {}, Epoch{8});
  h.apply(a_job().every(5s));
  CHECK(!std::get<JobApplied>(h.last.replies.at(0).body).changed);
}

TEST_CASE("jobs: an edit records the old version's ticks, closes it and opens the next") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  const WallTime created = h.now.wall;
  h.now.wall += 2500ms;
  h.apply(a_job().every(1s).overlap(model::Overlap::Allow).described("other"));
  CHECK(h.last.changes.new_runs.size() == 2);
  CHECK(h.versions.at({job, 1}).valid_to == h.now.wall);
  CHECK(h.versions.at({job, 2}).valid_from == h.now.wall);
  CHECK(h.versions.at({job, 2}).anchor == created);
  CHECK(h.jobs.at(job).version == 2);
  h.now.wall += 500ms;
  h.tick();
  REQUIRE(h.runs_of(job).size() == 3);
  CHECK(h.run(h.runs_of(job)[2]).version == 2);
  CHECK(*h.run(h.runs_of(job)[2]).tick == created + 3s);
}

TEST_CASE("jobs: another interval starts anew, a given start is the anchor") {
  Harness h;
  const JobId job = h.apply(a_job().every(10s));
  h.now.wall += 3s;
  h.apply(a_job().every(7s));
  CHECK(h.versions.at({job, 2}).anchor == h.now.wall);
  h.apply(a_job().every(7s).starting(h.now.wall + 1h));
  CHECK(h.versions.at({job, 3}).anchor == h.now.wall + 1h);
}

TEST_CASE("jobs: a stale edit is refused with both versions") {
  Harness h;
  h.apply(a_job().every(5s));
  h.apply(a_job().every(6s), 1);
  ApplyJob stale{Token{9}, "t", a_job().every(7s).build(), nullptr, 1};
  h.handle(stale);
  const Error error = std::get<Error>(h.last.replies.at(0).body);
  CHECK(error.code == ErrorCode::Conflict);
  CHECK(error.message.find("version 2") != std::string::npos);
  CHECK(error.message.find("version 1") != std::string::npos);
  CHECK(h.last.changes.empty());
  stale.expected_version = 0;
  h.handle(stale);
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::Conflict);
}

TEST_CASE("jobs: a definition that cannot be compiled is refused") {
  Harness h;
  h.handle(ApplyJob{Token{9}, "t", a_job().cron("61 * * * *").build(),
                    std::make_shared<model::ZoneRules>(), {}});
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::InvalidArgument);
  CHECK(h.jobs.empty());
}

TEST_CASE("jobs: a paused stretch has no ticks, and belongs to a version that is not enabled") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  h.advance(2s);
  h.pause("j");
  CHECK(h.jobs.at(job).state == model::JobState::Paused);
  CHECK(h.jobs.at(job).state_why == "maintenance");
  CHECK(!h.versions.at({job, 2}).enabled);
  h.advance(10s);
  CHECK(h.runs_of(job).size() == 2);
  h.pause("j", false);
  CHECK(h.versions.at({job, 3}).enabled);
  CHECK(h.versions.at({job, 2}).valid_to == h.now.wall);
  h.advance(2s);
  CHECK(h.runs_of(job).size() == 4);
}

TEST_CASE("jobs: pausing what is paused changes nothing") {
  Harness h;
  h.apply(a_job().every(1s));
  h.pause("j");
  h.pause("j");
  CHECK(h.last.changes.empty());
  h.pause("missing");
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::NotFound);
}

TEST_CASE("jobs: a deleted job fires no more, its runs end, its name is free") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(1s));
  h.advance(1s);
  const RunId run = h.runs_of(job)[0];
  h.remove("j");
  CHECK(h.jobs.at(job).state == model::JobState::Deleted);
  CHECK(h.versions.at({job, 1}).valid_to == h.now.wall);
  h.advance(5s);
  CHECK(h.runs_of(job).size() == 1);
  h.report(run, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
  CHECK(h.apply(a_job().every(1s)) != job);
}

TEST_CASE("jobs: a one-off's rows are written once a Term and forgotten with its last run") {
  Harness h;
  h.join(a_worker("w1", 8));
  const RunId a = h.submit();
  CHECK(h.last.changes.jobs.size() == 1);
  CHECK(h.last.changes.versions.at(0).definition != nullptr);
  const RunId b = h.submit();
  CHECK(h.last.changes.jobs.empty());
  CHECK(h.state(b) == RunState::Dispatched);  // one-offs do not exclude each other
  h.report(a, RunState::Succeeded);
  h.report(b, RunState::Failed);
  h.submit();
  CHECK(h.last.changes.jobs.size() == 1);
}

TEST_CASE("jobs: fingerprints that older programs have stored stay right") {
  CHECK(definition_hash({}) == 15356490267212951524ull);
  auto job = *a_job().every(5s).never_again().build();
  job.rules.keep_logs = 60s;
  CHECK(definition_hash(job) == 1606222962836462817ull);
}

TEST_CASE("jobs: every field counts in a definition's fingerprint") {
  const auto base = definition_hash(*a_job().every(5s).build());
  CHECK(base == definition_hash(*a_job().every(5s).build()));
  CHECK(base != definition_hash(*a_job().every(6s).build()));
  CHECK(base != definition_hash(*a_job("k").every(5s).build()));
  CHECK(base != definition_hash(*a_job().every(5s).described("x").build()));
  CHECK(base != definition_hash(*a_job().every(5s).timeout(1s).build()));
  CHECK(base != definition_hash(*a_job().every(5s).retries(1).build()));
  CHECK(base != definition_hash(*a_job().every(5s).losses(5).build()));
  CHECK(base != definition_hash(*a_job().every(5s).confirmed().build()));
  CHECK(base != definition_hash(*a_job().every(5s).never_again().build()));
  auto throttled = *a_job().every(5s).build();
  throttled.work.limits.milli_cpus = 500;
  auto slowed = throttled;
  slowed.work.limits.milli_cpus = 250;
  CHECK(definition_hash(slowed) != definition_hash(throttled));
}
