#include <doctest/doctest.h>

#include <limits>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Reason;
using model::RunState;

namespace {

/// The next Term over what was recorded: one worker is here, and has not said yet what it holds.
Harness takeover_of(const Harness& before, const std::string& worker = "w1") {
  Harness h(before.recovered(), {}, Epoch{8});
  h.handle(WorkerSeen{a_worker(worker)});
  h.listed();
  return h;
}

}  // namespace

TEST_CASE("takeover: what runs goes on, what an older Term sent and never arrived is sent again") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job().overlap(model::Overlap::Allow));
  const RunId running = before.run_now("j");
  const RunId lost = before.run_now("j");
  Harness h = takeover_of(before);
  CHECK(h.pop_dispatches().empty());
  h.inventory({"w1", "i1"}, {{{running, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
  const auto again = h.pop_dispatches();
  REQUIRE(again.size() == 1);
  CHECK(again[0].attempt == model::AttemptKey{lost, 1});
}

TEST_CASE("takeover: an attempt that a restored database has forgotten gives its number to no other") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h = takeover_of(before);
  model::Outcome over;
  over.state = RunState::Failed;
  SUBCASE("it is in the worker's inventory") {
    h.inventory({"w1", "i1"}, {{{run, 1}, HeldAttempt::State::Finished, h.now.wall, over}});
  }
  SUBCASE("it is reported first") {
    h.report({run, 1}, {"w1", "i0"}, RunState::Failed);
    h.inventory({"w1", "i1"});
  }
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].attempt == model::AttemptKey{run, 2});
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].attempt == 1);
  CHECK(h.attempts[0].late);
  CHECK(h.attempts[0].outcome.state == RunState::Failed);
  h.report({run, 1}, {"w1", "i0"}, RunState::Failed);
  CHECK(h.attempts.size() == 1);  // a repeat adds none
}

TEST_CASE("takeover: a success that a restored database has forgotten is not run again") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h = takeover_of(before);
  h.report({run, 1}, {"w1", "i0"}, RunState::Succeeded);
  h.inventory({"w1", "i1"});
  CHECK(h.pop_dispatches().empty());
  CHECK(h.state(run) == RunState::Succeeded);
  CHECK(h.run(run).progress.worker.id == "w1");
  CHECK(h.run(run).progress.dispatched.has_value());  // so that no reader finds a start without it
}

TEST_CASE("takeover: an attempt that a restored database has forgotten goes on where it runs") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h = takeover_of(before);
  const WallTime started = h.now.wall - 5s;
  h.inventory({"w1", "i1"}, {{{run, 3}, HeldAttempt::State::Running, started, {}}});
  CHECK(h.pop_cancels().empty());
  CHECK(h.pop_dispatches().empty());
  CHECK(h.state(run) == RunState::Running);
  CHECK(h.attempt(run) == model::AttemptKey{run, 3});
  CHECK(h.run(run).progress.worker.id == "w1");
  CHECK(h.run(run).progress.started == started);
  CHECK(h.run(run).progress.dispatched == started);
  h.report({run, 3}, {"w1", "i1"}, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
  CHECK(h.pop_dispatches().empty());
}

TEST_CASE("takeover: of a run that waits for a retry the forgotten attempt goes on, of one that waits for another run not") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job().retries(3, 1h).overlap(model::Overlap::Queue));
  const RunId first = before.run_now("j");
  const RunId second = before.run_now("j");
  before.accept(first);
  before.report(first, RunState::Failed);
  REQUIRE(before.state(first) == RunState::Waiting);
  REQUIRE(before.state(second) == RunState::Waiting);
  Harness h = takeover_of(before);
  h.inventory({"w1", "i1"}, {{{first, 2}, HeldAttempt::State::Running, h.now.wall, {}},
                             {{second, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
  const auto cancels = h.pop_cancels();
  REQUIRE(cancels.size() == 1);
  CHECK(cancels[0].attempts == std::vector{model::AttemptKey{second, 1}});
  CHECK(h.state(first) == RunState::Running);
  CHECK(h.state(second) == RunState::Waiting);
  h.report({second, 1}, {"w1", "i1"}, RunState::Killed);
  CHECK(h.pop_dispatches().empty());
  h.report({first, 2}, {"w1", "i1"}, RunState::Succeeded);
  CHECK(h.state(first) == RunState::Succeeded);
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].attempt == model::AttemptKey{second, 2});
}

TEST_CASE("takeover: the forgotten attempt of a late run goes on, but not beside a live run of its job") {
  Harness before;
  const JobId job = before.apply(a_job().every(10s).grace(1s));
  before.jump_wall(25s);
  before.tick();
  const RunId late = before.runs_of(job).at(0);
  REQUIRE(before.reason(late) == Reason::CaughtUp);
  const auto hold_late = [&](Harness& h) {
    h.inventory({"w1", "i1"}, {{{late, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
  };
  SUBCASE("no other run") {
    Harness h = takeover_of(before);
    hold_late(h);
    CHECK(h.state(late) == RunState::Running);
    CHECK(h.pop_cancels().empty());
  }
  SUBCASE("a live run") {
    before.advance(5s);
    const RunId live = before.runs_of(job).at(1);
    Harness h = takeover_of(before);
    hold_late(h);
    const auto cancels = h.pop_cancels();
    REQUIRE(cancels.size() == 1);
    CHECK(cancels[0].attempts == std::vector{model::AttemptKey{late, 1}});
    CHECK(h.state(live) == RunState::Dispatched);
    CHECK(h.reason(late) == Reason::CaughtUp);
    h.report({late, 1}, {"w1", "i1"}, RunState::Killed);
    h.accept(live);
    h.report(live, RunState::Succeeded);
    h.advance(1s);
    CHECK(h.attempt(late) == model::AttemptKey{late, 2});
  }
}

TEST_CASE("takeover: how a forgotten attempt ended that was ended for another's sake is kept as late") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  before.accept(run);
  Harness h = takeover_of(before, "w2");
  h.inventory({"w2", "i1"}, {{{run, 2}, HeldAttempt::State::Running, h.now.wall, {}}});
  CHECK(h.pop_cancels().size() == 1);  // it is stored for w1, which has not said anything yet
  h.report({run, 2}, {"w2", "i1"}, RunState::Killed);
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].late);
  CHECK(h.attempts[0].outcome.state == RunState::Killed);
}

TEST_CASE("takeover: where the database went back nothing is sent before all workers have said what they hold") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Recovered recovered = before.recovered();
  recovered.database_went_back = true;
  Harness h(std::move(recovered), {}, Epoch{8});
  h.handle(WorkerSeen{a_worker("w1")});
  h.handle(WorkerSeen{a_worker("w2")});
  h.listed();
  h.inventory({"w1", "i1"});
  CHECK(h.pop_dispatches().empty());
  SUBCASE("the other one has the run") {
    h.inventory({"w2", "i1"}, {{{run, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
    CHECK(h.pop_dispatches().empty());
    CHECK(h.state(run) == RunState::Running);
  }
  SUBCASE("the other one has nothing") {
    h.inventory({"w2", "i1"});
    CHECK(h.pop_dispatches().size() == 1);
  }
  SUBCASE("the other one goes away") {
    h.handle(WorkerGone{{"w2", "i1"}});
    CHECK(h.pop_dispatches().size() == 1);
  }
  SUBCASE("the other one cannot be asked") {
    h.advance(9999ms);
    CHECK(h.pop_dispatches().empty());
    h.advance(2s);
    CHECK(h.pop_dispatches().size() == 1);
  }
}

TEST_CASE("takeover: after a restore an attempt of the same number on another worker is not taken for the present one") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h = takeover_of(before);
  h.inventory({"w1", "i1"});
  REQUIRE(h.pop_dispatches().size() == 1);  // attempt 1, as the database knows of none
  SUBCASE("it is reported") {
    h.report({run, 1}, {"w2", "i1"}, RunState::Killed);
    CHECK(h.state(run) == RunState::Dispatched);
  }
  SUBCASE("it runs there, and is ended") {
    h.handle(WorkerSeen{a_worker("w2")});
    h.inventory({"w2", "i1"}, {{{run, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
    CHECK(h.state(run) == RunState::Dispatched);
    CHECK(h.run(run).progress.worker.id == "w1");
    const auto cancels = h.pop_cancels();
    REQUIRE(cancels.size() == 1);
    CHECK(cancels[0].worker.id == "w2");
  }
  h.report({run, 1}, {"w1", "i1"}, RunState::Succeeded);
  CHECK(h.state(run) == RunState::Succeeded);
}

TEST_CASE("takeover: after a restore a forgotten attempt's number is not given again while an older one is under way") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  before.accept(run);
  Harness h = takeover_of(before, "w2");
  h.inventory({"w2", "i1"}, {{{run, 2}, HeldAttempt::State::Running, h.now.wall, {}}});
  CHECK(h.pop_cancels().size() == 1);
  h.handle(WorkerSeen{a_worker("w1")});
  h.inventory({"w1", "i1"}, {{{run, 1}, HeldAttempt::State::Tombstone, {}, {}}});
  h.advance(5s);
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].attempt == model::AttemptKey{run, 3});
}

TEST_CASE("takeover: a reported number that no attempt of the run can have is not counted on from") {
  Harness before;
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h = takeover_of(before);
  h.report({run, std::numeric_limits<std::int32_t>::max()}, {"w1", "i0"}, RunState::Failed);
  h.inventory({"w1", "i1"});
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].attempt == model::AttemptKey{run, 1});
}

TEST_CASE("takeover: an absent worker's attempts wait for the listing, then for one grant") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  Harness h(before.recovered(), {}, Epoch{8});
  h.advance(30s);
  CHECK(h.state(run) == RunState::Dispatched);
  h.handle(WorkerSeen{a_worker("w2")});
  h.listed();
  h.inventory({"w2", "i1"});
  h.advance(1ms);
  CHECK(h.attempt(run).attempt == 2);
  CHECK(h.run(run).progress.worker.id == "w2");
}

TEST_CASE("takeover: a changed cluster uuid holds redispatch for a session more") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  CoreOptions options;
  options.fence_hold = 6s;
  Harness h(before.recovered(), options, Epoch{8});
  h.join(a_worker("w2"));
  h.advance(11'299ms);
  CHECK(h.attempt(run).attempt == 1);
  h.advance(1ms);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("takeover: queued and waiting runs are taken up") {
  Harness before;
  before.apply(a_job().overlap(model::Overlap::Queue));
  const RunId a = before.run_now("j");
  const RunId b = before.run_now("j");
  const RunId c = before.submit();
  Harness h(before.recovered(), {}, Epoch{8});
  h.join(a_worker("w1"));
  CHECK(h.state(a) == RunState::Dispatched);
  CHECK(h.state(b) == RunState::Waiting);
  CHECK(h.state(c) == RunState::Dispatched);
  h.report(a, RunState::Succeeded);
  CHECK(h.state(b) == RunState::Dispatched);
}

TEST_CASE("takeover: a cancelled run that never arrived does not start any more") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  before.cancel(run);
  Harness h(before.recovered(), {}, Epoch{8});
  h.join(a_worker("w1"));
  CHECK(h.state(run) == RunState::Cancelled);
  CHECK(h.pop_dispatches().empty());
}

TEST_CASE("takeover: a cancelled run that goes on is told again to end") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job());
  const RunId run = before.run_now("j");
  before.accept(run);
  before.cancel(run);
  Harness h = takeover_of(before);
  h.inventory({"w1", "i1"}, {{{run, 1}, HeldAttempt::State::Running, {}, {}}});
  CHECK(h.pop_cancels().size() == 1);
}

TEST_CASE("takeover: a retry's delay stays what it was when the leader's clock is far behind") {
  Harness before;
  before.advance(1h);
  before.join(a_worker("w1"));
  before.apply(a_job().retries(1, 1s, 1.0));
  const RunId run = before.run_now("j");
  before.report(run, RunState::Failed);
  Harness h(before.recovered(), {}, Epoch{8});
  h.join(a_worker("w1"));
  h.advance(1s);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("takeover: a retry waits no longer than its rule says, though the clock that wrote it was an hour ahead") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job().retries(2, 90s, 2.0));
  const RunId run = before.run_now("j");
  before.report(run, RunState::Failed);
  Recovered recovered = before.recovered();
  *recovered.runs.at(0).progress.not_before += 1h;
  Harness h(std::move(recovered), {}, Epoch{8});
  h.join(a_worker("w1"));
  h.advance(89s);
  CHECK(h.state(run) == RunState::Waiting);
  h.advance(1s);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("takeover: core time does not go back behind a version's beginning") {
  Harness before;
  before.advance(1h);
  const JobId job = before.apply(a_job().every(1s));
  Harness h(before.recovered(), {}, Epoch{8});
  h.now = before.now;
  h.now.wall -= 1500ms;  // its clock is a little behind
  h.apply(a_job().every(2s));
  CHECK(h.versions.at({job, 2}).valid_from >= before.now.wall);
}

TEST_CASE("takeover: jobs that share a schedule fire each after what is recorded of itself") {
  model::JobRules rules;
  rules.schedule.kind = model::ScheduleKind::Cron;
  rules.schedule.cron = "0 * * * *";
  Recovered recovered;
  recovered.watermark = Watermark(wall_from_ms(0));
  const auto zone = std::make_shared<const model::ZoneRules>();
  for (std::int64_t i = 1; i <= 3; ++i) {
    RecoveredJob job;
    job.job.id = JobId{i};
    job.job.name = "j" + std::to_string(i);
    job.rules = std::make_shared<const KeptRules>(rules);
    job.zone = zone;
    if (i == 2) job.job.ticks_through = wall_from_ms(5'400'000);
    recovered.jobs.push_back(std::move(job));
  }
  Scheduler scheduler(Epoch{1}, {}, std::move(recovered), Now{wall_from_ms(1000), MonoTime{}});
  const State& state = StateSurgery::state_of(scheduler);
  CHECK(state.find_job(JobId{1})->next_tick() == wall_from_ms(3'600'000));
  CHECK(state.find_job(JobId{2})->next_tick() == wall_from_ms(7'200'000));
  CHECK(state.find_job(JobId{3})->next_tick() == wall_from_ms(3'600'000));
  CHECK(&state.find_job(JobId{1})->schedule() == &state.find_job(JobId{3})->schedule());
}

TEST_CASE("takeover: jobs are not edited while ticks are recorded ahead of the clock, and it says until when") {
  Harness before;
  before.advance(1h);
  before.apply(a_job().every(1s));
  Harness h(before.recovered(), {}, Epoch{8});  // its clock is an hour behind
  h.pause("j");
  const Error refused = std::get<Error>(h.last.replies.at(0).body);
  CHECK(refused.code == ErrorCode::Unavailable);
  CHECK(refused.message.find("they fire again in 1h") != std::string::npos);
  h.advance(1h);
  h.pause("j");
  CHECK(std::holds_alternative<master::core::JobApplied>(h.last.replies.at(0).body));
}

TEST_CASE("takeover: a run keeps the promises of its own version") {
  Harness before;
  before.join(a_worker("w1"));
  const JobId job = before.apply(a_job().disconnect_grace(1h));
  const RunId run = before.run_now("j");
  before.apply(a_job());
  Recovered recovered = before.recovered();
  const auto promised = a_job().disconnect_grace(1h).build();
  recovered.older_rules.push_back({job, 1, std::make_shared<const KeptRules>(promised->rules)});
  Harness h(std::move(recovered), {}, Epoch{8});
  h.join(a_worker("w2"));
  h.advance(10min);
  CHECK(h.attempt(run).attempt == 1);  // w1, cut off, may still be at it
  h.advance(1h);
  CHECK(h.attempt(run).attempt == 2);
}

TEST_CASE("takeover: the backstop of a timeout stands for what goes on") {
  Harness before;
  before.join(a_worker("w1"));
  before.apply(a_job().timeout(1min));
  const RunId run = before.run_now("j");
  before.accept(run);
  Harness h = takeover_of(before);
  h.inventory({"w1", "i1"}, {{{run, 1}, HeldAttempt::State::Running, h.now.wall, {}}});
  h.advance(1min);
  CHECK(h.pop_cancels().empty());
  h.advance(41s);
  CHECK(h.pop_cancels().size() == 1);
}

TEST_CASE("snapshot: tells workers, waiting runs, counters") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job().overlap(model::Overlap::Allow));
  h.run_now("j");
  const RunId waiting = h.run_now("j");
  const Snapshot s = h.scheduler->snapshot(h.now);
  CHECK(s.epoch == Epoch{7});
  REQUIRE(s.workers.size() == 1);
  CHECK(s.workers[0].state == "busy");
  CHECK(s.workers[0].running == 1);
  CHECK(s.waiting.find(waiting)->second.reason == Reason::AllSlotsBusy);
  CHECK(s.jobs == 1);
  CHECK(s.active_runs == 2);
  CHECK(s.counters.at("runs_recorded") == 2);
}
