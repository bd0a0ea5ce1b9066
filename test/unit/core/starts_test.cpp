// Jobs with an entry `@worker_start`: one run for each start of a worker, on that worker and in that start.
#include "master/core/workers/start_rules.h"

#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

/// A life of a start: its incarnation is `<home>-<life>`, as a worker makes it.
model::WorkerInfo life_of(const std::string& id, const std::string& start, const std::string& life,
                          const std::string& home = "home") {
  model::WorkerInfo info = a_worker(id, 4, home + "-" + life);
  info.start = start;
  return info;
}

JobBuilder boot_job(const std::string& name = "boot") {
  return a_job(name).entries({"worker_start; name up"}).overlap(Overlap::Allow);
}

/// The start's run, where there is exactly one.
RunId run_of(const Harness& h, JobId job, const std::string& worker, const std::string& start) {
  std::vector<RunId> found;
  for (const RunId id : h.runs_of(job)) {
    if (h.run(id).request_key == model::start_key(job, {worker, start})) found.push_back(id);
  }
  REQUIRE(found.size() == 1);
  return found[0];
}

Error refusal_in(const Harness& h) {
  REQUIRE(!h.last.replies.empty());
  const auto* error = std::get_if<Error>(&h.last.replies.back().body);
  REQUIRE(error != nullptr);
  return *error;
}

void apply_refused(Harness& h, const JobBuilder& job) {
  ApplyJob event;
  event.token = Token{99};
  event.principal = "tester";
  event.definition = job.build();
  event.zone = std::make_shared<const model::ZoneRules>();
  h.handle(event);
}

}  // namespace

TEST_CASE("start key: names job, worker and start, and is read back") {
  const model::StartKey key{"w/1", "0123abcd"};
  CHECK(model::start_in(model::start_key(JobId{7}, key)) == key);
  CHECK_FALSE(model::start_in("start/7"));
  CHECK_FALSE(model::start_in("start/7/abc"));
  CHECK_FALSE(model::start_in("freeze/7/8/9"));
}

TEST_CASE("worker start: each start fires once, on its worker, in the batch that accepts it") {
  Harness h;
  const JobId job = h.apply(boot_job());
  h.join(life_of("w1", "s1", "a"));
  REQUIRE(h.runs_of(job).size() == 1);
  const RunId first = run_of(h, job, "w1", "s1");
  CHECK(h.run(first).kind == model::RunKind::WorkerStart);
  CHECK(h.run(first).scheduled == h.starts.at({"w1", "s1"}).accepted);
  CHECK(h.run(first).progress.worker.id == "w1");
  CHECK(h.state(first) == RunState::Dispatched);
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].schedule == "up");
  h.join(life_of("w2", "s2", "a"));
  REQUIRE(h.runs_of(job).size() == 2);
  CHECK(h.run(run_of(h, job, "w2", "s2")).progress.worker.id == "w2");
}

TEST_CASE("worker start: a job of a handler fires only on workers that know it") {
  Harness h;
  const JobId job = h.apply(boot_job().handler("mail"));
  h.join(life_of("w1", "s1", "a"));
  CHECK(h.runs_of(job).empty());
  model::WorkerInfo knowing = life_of("w2", "s2", "a");
  knowing.handlers = {"mail"};
  h.join(knowing);
  CHECK(h.run(run_of(h, job, "w2", "s2")).progress.worker.id == "w2");
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("worker start: a new session of the same start fires nothing, a new start does") {
  Harness h;
  const JobId job = h.apply(boot_job());
  const auto first = h.join(life_of("w1", "s1", "a"));
  h.report(h.runs_of(job)[0], RunState::Succeeded);
  h.leave(first);
  const auto second = h.join(life_of("w1", "s1", "b"));
  CHECK(h.runs_of(job).size() == 1);
  h.leave(second);
  h.join(life_of("w1", "s2", "c"));
  CHECK(h.runs_of(job).size() == 2);
}

TEST_CASE("worker start: a takeover fires what came without a leader, and nothing twice") {
  Harness h;
  const JobId job = h.apply(boot_job());
  h.join(life_of("w1", "s1", "a"));
  h.report(h.runs_of(job)[0], RunState::Succeeded);
  Harness next(h.recovered(), {}, Epoch{8});
  next.join(life_of("w1", "s1", "a"));
  CHECK(next.runs_of(job).empty());
  next.join(life_of("w2", "s2", "a"));
  CHECK(next.runs_of(job).size() == 1);
}

TEST_CASE("worker start: a waiting run is still bound to its start after a takeover") {
  Harness h;
  const JobId job = h.apply(boot_job());
  model::WorkerInfo full = life_of("w1", "s1", "a");
  full.slots = 1;
  const RunId filler = h.submit();
  h.join(full);
  REQUIRE(h.state(filler) == RunState::Dispatched);
  const RunId run = run_of(h, job, "w1", "s1");
  REQUIRE(h.state(run) == RunState::Queued);
  Harness next(h.recovered(), {}, Epoch{8});
  next.join(life_of("w2", "s9", "a"));                // another worker is free, and may not have it
  CHECK(next.state(run) == RunState::Queued);
  next.handle(WorkerSeen{full});
  next.inventory(full.key, {{next.attempt(filler), model::HeldAttempt::State::Running, {}, {}}});
  next.report(filler, RunState::Succeeded);
  CHECK(next.state(run) == RunState::Dispatched);
  CHECK(next.run(run).progress.worker.id == "w1");
}

TEST_CASE("worker start: a job that comes later waits for the next start; so does one that is resumed") {
  Harness h;
  const auto first = h.join(life_of("w1", "s1", "a"));
  CHECK(h.starts.size() == 1);
  const JobId job = h.apply(boot_job());
  h.leave(first);
  const auto again = h.join(life_of("w1", "s1", "b"));
  CHECK(h.runs_of(job).empty());
  h.pause("boot");
  h.leave(again);
  h.join(life_of("w1", "s2", "c"));
  h.pause("boot", false);
  CHECK(h.runs_of(job).empty());
}

TEST_CASE("worker start: pool, named worker and the entry's validity decide who fires") {
  Harness h;
  const JobId other_pool = h.apply(boot_job("p").pool("gpu"));
  const JobId named = h.apply(boot_job("n").on_worker("w2"));
  const std::string soon = "2023-11-14T22:13:21.000Z";  // one second after the harness begins
  const JobId later = h.apply(a_job("l").entries({"worker_start; start " + soon}).overlap(Overlap::Allow));
  const JobId over = h.apply(a_job("o").entries({"worker_start; end " + soon}).overlap(Overlap::Allow));
  h.join(life_of("w1", "s1", "a"));
  CHECK(h.runs_of(later).empty());
  CHECK(h.runs_of(over).size() == 1);
  h.advance(2s);
  h.join(life_of("w2", "s2", "a"));
  CHECK(h.runs_of(other_pool).empty());
  CHECK(h.runs_of(named).size() == 1);
  CHECK(h.runs_of(later).size() == 1);
  CHECK(h.runs_of(over).size() == 1);
}

namespace {

std::vector<std::string> told_of_starts(const Harness& h) {
  std::vector<std::string> out;
  for (const master::core::Notice& notice : h.notices) {
    if (notice.sentence != "worker start fired") continue;
    std::map<std::string, std::string> keys(notice.keys.begin(), notice.keys.end());
    out.push_back(keys["worker"] + " runs=" + keys["runs"] + " skipped=" + keys["skipped"]);
  }
  return out;
}

}  // namespace

TEST_CASE("worker start: what overlap or a freeze forbids is a skipped run with the reason") {
  Harness h;
  const JobId job = h.apply(boot_job().overlap(Overlap::Skip));
  h.join(life_of("w1", "s1", "a"));
  h.join(life_of("w2", "s2", "a"));
  const RunId second = run_of(h, job, "w2", "s2");
  CHECK(h.state(second) == RunState::Skipped);
  CHECK(h.reason(second) == Reason::OverlapSkipped);
  CHECK(told_of_starts(h) == std::vector<std::string>{"w1 runs=1 skipped=0", "w2 runs=0 skipped=1"});
  h.handle(BeginFreeze{Token{77}, "ann", "", h.now.wall + 60s, "quiet"});
  h.advance(1s);
  h.join(life_of("w3", "s3", "a"));
  const RunId third = run_of(h, job, "w3", "s3");
  CHECK(h.state(third) == RunState::Skipped);
  CHECK(h.reason(third) == Reason::Frozen);
  CHECK(h.run(third).progress.detail == std::to_string(h.freezes.begin()->first));
  h.advance(120s);
  CHECK(h.runs_of(job).size() == 3);
}

TEST_CASE("worker start: runs queue behind each other, each for its own worker") {
  Harness h;
  const JobId job = h.apply(boot_job().overlap(Overlap::Queue));
  h.join(life_of("w1", "s1", "a"));
  h.join(life_of("w2", "s2", "a"));
  const RunId second = run_of(h, job, "w2", "s2");
  CHECK(h.reason(second) == Reason::WaitsForRun);
  h.report(run_of(h, job, "w1", "s1"), RunState::Succeeded);
  CHECK(h.state(second) == RunState::Dispatched);
  CHECK(h.run(second).progress.worker.id == "w2");
}

TEST_CASE("worker start: a run that waits ends when its worker starts again, and the new start has its own") {
  Harness h;
  const JobId job = h.apply(boot_job());
  model::WorkerInfo full = life_of("w1", "s1", "a");
  full.slots = 1;
  const RunId filler = h.submit();
  const auto key = h.join(full);
  const RunId run = run_of(h, job, "w1", "s1");
  REQUIRE(h.state(run) == RunState::Queued);
  h.leave(key);
  h.join(life_of("w1", "s2", "b"));
  CHECK(h.state(run) == RunState::Skipped);
  CHECK(h.reason(run) == Reason::WorkerStartOver);
  CHECK(h.state(run_of(h, job, "w1", "s2")) == RunState::Dispatched);
  CHECK(h.state(filler) == RunState::Dispatched);
}

TEST_CASE("worker start: a retry stays on its start, and ends as lost when that is over") {
  Harness h;
  const JobId job = h.apply(boot_job().retries(5, 10s));
  const auto key = h.join(life_of("w1", "s1", "a"));
  h.join(life_of("w2", "s9", "a"));
  const RunId run = run_of(h, job, "w1", "s1");
  h.report(run, RunState::Failed);
  CHECK(h.reason(run) == Reason::RetryDelay);
  h.advance(11s);
  CHECK(h.state(run) == RunState::Dispatched);
  CHECK(h.run(run).progress.worker.id == "w1");
  h.report(run, RunState::Failed);
  h.leave(key);
  h.join(life_of("w1", "s2", "b"));
  CHECK(h.state(run) == RunState::Lost);
  CHECK(h.reason(run) == Reason::WorkerStartOver);
}

TEST_CASE("worker start: an attempt that dies with its start is followed by none") {
  Harness h;
  const JobId job = h.apply(boot_job());
  const auto key = h.join(life_of("w1", "s1", "a"));
  const RunId run = run_of(h, job, "w1", "s1");
  h.accept(run);
  h.leave(key);
  h.join(life_of("w1", "s2", "b"));  // its inventory does not name the attempt: dead
  CHECK(h.state(run) == RunState::Lost);
  CHECK(h.reason(run) == Reason::WorkerStartOver);
  CHECK(h.runs_of(job).size() == 2);
}

TEST_CASE("worker start: an attempt goes on through a new session of its start") {
  Harness h;
  const JobId job = h.apply(boot_job());
  const auto key = h.join(life_of("w1", "s1", "a"));
  const RunId run = run_of(h, job, "w1", "s1");
  h.accept(run);
  h.leave(key);
  const model::WorkerInfo again = life_of("w1", "s1", "b");
  h.handle(WorkerSeen{again});
  h.inventory(again.key, {{h.attempt(run), model::HeldAttempt::State::Running, {}, {}}});
  h.report(run, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("worker start: a run waits ten minutes for a worker that is away, or less for one that was stopped") {
  Harness h;
  const JobId job = h.apply(boot_job().retries(5, 1h));
  SUBCASE("it vanished") {
    const auto key = h.join(life_of("w1", "s1", "a"));
    const RunId run = run_of(h, job, "w1", "s1");
    h.report(run, RunState::Failed);
    h.leave(key);
    h.advance(9min);
    CHECK(h.state(run) == RunState::Waiting);
    h.advance(2min);
    CHECK(h.state(run) == RunState::Lost);
  }
  SUBCASE("it vanished, and nobody led then") {
    h.join(life_of("w1", "s1", "a"));
    const RunId run = run_of(h, job, "w1", "s1");
    h.report(run, RunState::Failed);
    Harness next(h.recovered(), {}, Epoch{8});
    next.listed();
    next.advance(11min);
    CHECK(next.state(run) == RunState::Lost);
  }
  SUBCASE("it was stopped") {
    model::WorkerInfo info = life_of("w1", "s1", "a");
    const auto key = h.join(info);
    const RunId run = run_of(h, job, "w1", "s1");
    h.report(run, RunState::Failed);
    info.draining = true;
    info.stops_at = h.now.wall + 10s;
    h.handle(WorkerSeen{info});
    h.leave(key);
    CHECK(h.state(run) == RunState::Lost);
  }
}

TEST_CASE("worker start: while ticks are held it waits; after a restore it is accepted and fires nothing") {
  SUBCASE("held for the clock") {
    Harness h;
    const JobId job = h.apply(boot_job());
    h.handle(HoldTicks{"the clock"});
    h.join(life_of("w1", "s1", "a"));
    CHECK(h.runs_of(job).empty());
    h.handle(HoldTicks{""});
    CHECK(h.runs_of(job).size() == 1);
  }
  SUBCASE("restored") {
    Harness before;
    const JobId job = before.apply(boot_job());
    Recovered from = before.recovered();
    from.database_went_back = true;
    Harness h(std::move(from), {}, Epoch{8});
    h.join(life_of("w1", "s1", "a"));
    const RunId run = run_of(h, job, "w1", "s1");
    CHECK(h.state(run) == RunState::Skipped);
    CHECK(h.reason(run) == Reason::Missed);
    h.handle(HoldTicks{""});
    h.join(life_of("w2", "s2", "a"));
    CHECK(h.state(run_of(h, job, "w2", "s2")) == RunState::Dispatched);
    CHECK(h.runs_of(job).size() == 2);
  }
}

TEST_CASE("worker start: counts as a firing") {
  Harness h;
  const JobId job = h.apply(boot_job().firings(2));
  for (const char* id : {"w1", "w2", "w3"}) h.join(life_of(id, std::string("s-") + id, "a"));
  CHECK(h.runs_of(job).size() == 2);
  CHECK(h.jobs.at(job).state == model::JobState::Paused);
}

TEST_CASE("worker start: jitter spreads it by the start") {
  Harness h;
  const JobId job = h.apply(a_job("j").entries({"worker_start; jitter 10m"}).overlap(Overlap::Allow));
  for (int i = 0; i < 8; ++i) h.join(life_of("w" + std::to_string(i), "s" + std::to_string(i), "a"));
  std::set<WallTime> begins;
  for (const RunId id : h.runs_of(job)) {
    CHECK(h.reason(id) == Reason::Jitter);
    begins.insert(h.run(id).progress.not_before.value_or(WallTime{}));
  }
  CHECK(begins.size() == 8);
  h.advance(11min);
  for (const RunId id : h.runs_of(job)) CHECK(h.state(id) == RunState::Dispatched);
}

TEST_CASE("worker start: workers that do not name their start fire nothing") {
  Harness h;
  const JobId job = h.apply(boot_job());
  h.join(a_worker("w1"));
  CHECK(h.runs_of(job).empty());
  CHECK(h.starts.empty());
}

TEST_CASE("worker start: no job may have it while a master could not read its runs, nor too many jobs") {
  Recovered from;
  from.worker_starts_known = false;
  Harness h(std::move(from));
  apply_refused(h, boot_job());
  CHECK(refusal_in(h).code == ErrorCode::Unavailable);
  h.handle(WorkerStartsKnown{});
  for (std::size_t i = 0; i < kStartJobsMost; ++i) h.apply(boot_job("b" + std::to_string(i)));
  apply_refused(h, boot_job("one-more"));
  CHECK(refusal_in(h).code == ErrorCode::Conflict);
  h.apply(boot_job("b7").described("an edit"));
  h.remove("b8");
  h.apply(boot_job("one-more"));
}
