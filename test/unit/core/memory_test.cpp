// Rules with memory: firings, until, pause_after_failures, after_end.
#include <doctest/doctest.h>

#include "harness.h"

namespace rota::test {

using namespace std::chrono_literals;
using master::core::Reported;
using model::JobState;
using model::Reason;
using model::RunState;

namespace {

void end_all(Harness& h, RunState as) {
  for (const auto& item : h.pop_dispatches()) {
    h.accept(item.attempt.run);
    h.report(item.attempt.run, as);
  }
}

/// Of two late ticks.
std::size_t made_up_of_two(model::LatePolicy late) {
  return late == model::LatePolicy::FireOnce ? 1 : late == model::LatePolicy::FireAll ? 2 : 0;
}

/// Ticks in the job's gaps, of which none goes beyond that moment.
std::int64_t skipped_through(const Harness& h, JobId job, WallTime end) {
  std::int64_t skipped = 0;
  for (const auto& gap : h.gaps_of(job)) {
    CHECK(gap.to <= end);
    skipped += gap.count;
  }
  return skipped;
}

/// The worker accepts the run, and reports its end with that moment.
void report_end_at(Harness& h, RunId run, RunState as, WallTime ended) {
  h.accept(run);
  model::AttemptReport line;
  line.key = h.attempt(run);
  line.worker = h.run(run).progress.worker;
  line.what = model::AttemptReport::What::Finished;
  line.outcome.state = as;
  line.outcome.ended = ended;
  h.handle(Reported{Token{99}, line.worker, {line}});
}

}  // namespace

TEST_CASE("memory: after so many firings the job is done, in the batch of the last one") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(3));
  h.advance(2500ms);
  CHECK(h.jobs.at(job).memory.fired == 2);
  CHECK(h.jobs.at(job).state == JobState::Enabled);
  h.advance(500ms);
  CHECK(h.jobs.at(job).state == JobState::Paused);
  CHECK(h.jobs.at(job).state_by == "rota");
  CHECK(h.jobs.at(job).state_why == "done: it has fired 3 times (firings)");
  const auto& closed = h.versions.at({job, 1});
  CHECK(closed.valid_to == h.runs.at(h.runs_of(job).back()).tick);
  CHECK_FALSE(h.versions.at({job, 2}).enabled);
  h.advance(10s);
  CHECK(h.runs_of(job).size() == 3);
}

TEST_CASE("memory: of ticks that are recorded in one go none after the last firing fires") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(2));
  h.jump_wall(5s);
  h.tick();
  CHECK(h.runs_of(job).size() == 2);
  CHECK(h.gaps_of(job).empty());
  CHECK(h.versions.at({job, 1}).valid_to == h.runs.at(h.runs_of(job).back()).tick);
}

TEST_CASE("memory: ticks that are skipped do not count as firings") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).firings(2));
  h.advance(3s);
  CHECK(h.runs_of(job).size() == 1);
  CHECK(h.jobs.at(job).state == JobState::Enabled);
  end_all(h, RunState::Succeeded);
  h.advance(1s);
  CHECK(h.runs_of(job).size() == 2);
  CHECK(h.jobs.at(job).state == JobState::Paused);
}

TEST_CASE("memory: counters survive a takeover, and counting begins anew when the job is resumed") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(3));
  h.advance(2s);
  Harness next(h.recovered(), {}, Epoch{8});
  next.now = h.now;
  next.join(a_worker("w1", 8, "i2"));
  next.advance(5s);
  CHECK(next.runs_of(job).size() == 3);  // two of them were recovered
  CHECK(next.jobs.at(job).state == JobState::Paused);
  next.pause("j", false);
  CHECK(next.jobs.at(job).memory.fired == 0);
  next.advance(10s);
  CHECK(next.runs_of(job).size() == 6);
}

TEST_CASE("memory: a job whose rules end it while ticks are held decides on no tick after that end") {
  for (const auto late : {model::LatePolicy::FireOnce, model::LatePolicy::FireAll, model::LatePolicy::Skip}) {
    Harness h;
    h.join(a_worker("w1", 8));
    const JobId job = h.apply(a_job().every(10s).grace(1s).late(late).overlap(model::Overlap::Queue).pausing_after(1));
    h.advance(10s);
    REQUIRE(h.runs_of(job).size() == 1);
    const WallTime fired = *h.runs.at(h.runs_of(job)[0]).tick;
    h.handle(master::core::HoldTicks{"a test"});
    h.advance(25s);
    end_all(h, RunState::Failed);  // two ticks were held before it, three will be after it
    const WallTime end = h.now.wall;
    CHECK(h.jobs.at(job).state == JobState::Enabled);
    h.advance(30s);
    h.handle(master::core::HoldTicks{""});
    CHECK(h.jobs.at(job).state == JobState::Paused);
    CHECK(h.versions.at({job, 1}).valid_to == end);
    const std::size_t made_up = made_up_of_two(late);
    CHECK(h.runs_of(job).size() == 1 + made_up);
    CHECK(skipped_through(h, job, end) == static_cast<std::int64_t>(2 - made_up));
    for (const RunId run : h.runs_of(job)) CHECK(*h.runs.at(run).tick <= fired + 20s);
  }
}

TEST_CASE("memory: a job whose rules ended it in a hold ends at that moment after a takeover too") {
  for (const auto late : {model::LatePolicy::FireOnce, model::LatePolicy::FireAll, model::LatePolicy::Skip}) {
    for (const bool is_still_held : {false, true}) {
      INFO(static_cast<int>(late), is_still_held);
      Harness h;
      h.join(a_worker("w1", 8));
      const JobId job =
          h.apply(a_job().every(10s).grace(1s).late(late).overlap(model::Overlap::Queue).pausing_after(1));
      h.advance(10s);
      const std::size_t fired = h.runs_of(job).size();
      h.handle(master::core::HoldTicks{"a test"});
      h.advance(25s);
      end_all(h, RunState::Failed);  // two ticks were held before it
      const WallTime end = h.now.wall;
      h.advance(10s);
      master::core::CoreOptions options;
      if (is_still_held) options.tick_hold = "still a test";
      Harness next(h.recovered(), options, Epoch{8});
      next.now = h.now;
      next.join(a_worker("w1", 8, "i2"));
      next.advance(20s);
      if (is_still_held) CHECK(next.jobs[job].state == JobState::Enabled);
      next.handle(master::core::HoldTicks{""});
      next.advance(1s);
      CHECK(next.jobs.at(job).state == JobState::Paused);
      CHECK(next.versions.at({job, 1}).valid_to == end);
      const std::size_t made_up = made_up_of_two(late);
      CHECK(skipped_through(next, job, end) == static_cast<std::int64_t>(2 - made_up));
      std::size_t later = 0;
      for (const RunId run : next.runs_of(job)) {
        CHECK(*next.runs.at(run).tick <= end);
        later += *next.runs.at(run).tick > end - 25s ? 1 : 0;
      }
      CHECK(fired == 1);
      CHECK(later == made_up);
    }
  }
}

TEST_CASE("memory: the moment of an end is not kept beyond the version that it ended, nor of a job that goes on") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(10s).overlap(model::Overlap::Allow).pausing_after(1));
  h.advance(20s);
  REQUIRE(h.runs_of(job).size() == 2);
  h.handle(master::core::HoldTicks{"a test"});
  h.report(h.runs_of(job)[0], RunState::Failed);
  CHECK(h.jobs.at(job).memory.over_since == h.now.wall);
  h.report(h.runs_of(job)[1], RunState::Succeeded);
  CHECK(!h.jobs.at(job).memory.over_since);
  h.handle(master::core::HoldTicks{""});
  h.advance(10s);
  h.report(h.runs_of(job)[2], RunState::Failed);
  REQUIRE(h.jobs.at(job).state == JobState::Paused);
  h.pause("j", false);
  CHECK(!h.jobs.at(job).memory.over_since);
  // An older master does not know it: what it left there is of an earlier version.
  auto stored = h.recovered();
  for (auto& each : stored.jobs) {
    each.job.memory.failures = 1;
    each.job.memory.over_since = h.now.wall - 5s;
  }
  h.advance(5s);
  Harness next(std::move(stored), {}, Epoch{8});
  next.now = h.now;
  next.tick();
  CHECK(next.jobs.at(job).state == JobState::Paused);
  CHECK(next.versions.at({job, 3}).valid_to == next.now.wall);
}

TEST_CASE("memory: a success while ticks are held lets a job go on that had failed too often before it") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(10s).overlap(model::Overlap::Allow).pausing_after(1));
  h.advance(20s);
  REQUIRE(h.runs_of(job).size() == 2);
  h.handle(master::core::HoldTicks{"a test"});
  h.report(h.runs_of(job)[0], RunState::Failed);
  h.report(h.runs_of(job)[1], RunState::Succeeded);
  h.handle(master::core::HoldTicks{""});
  CHECK(h.jobs.at(job).state == JobState::Enabled);
}

TEST_CASE("memory: an edit of these rules counts anew, another one goes on") {
  Harness h;
  h.join(a_worker("w1", 8));
  const auto job = a_job().every(1s).overlap(model::Overlap::Allow);
  const JobId id = h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(3));
  h.advance(2s);
  h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(3).queue_limit(7));
  CHECK(h.jobs.at(id).memory.fired == 2);
  h.apply(a_job().every(1s).overlap(model::Overlap::Allow).firings(4).queue_limit(7));
  CHECK(h.jobs.at(id).memory.fired == 0);
}

TEST_CASE("memory: the first run that succeeds ends a job with until: success") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).until_success());
  h.advance(1s);
  end_all(h, RunState::Failed);
  h.advance(1s);
  CHECK(h.jobs.at(job).state == JobState::Enabled);
  end_all(h, RunState::Succeeded);
  CHECK(h.jobs.at(job).state == JobState::Paused);
  CHECK(h.jobs.at(job).state_why == "done: a run has succeeded (until: success)");
  h.advance(5s);
  CHECK(h.runs_of(job).size() == 2);
}

TEST_CASE("memory: so many failures in a row pause the job; a success between them, or an end by hand, does not count") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).pausing_after(2));
  for (const RunState as : {RunState::Failed, RunState::Succeeded, RunState::TimedOut}) {
    h.advance(1s);
    end_all(h, as);
  }
  h.advance(1s);
  h.cancel(h.runs_of(job).back());
  end_all(h, RunState::Killed);
  CHECK(h.jobs.at(job).state == JobState::Enabled);
  CHECK(h.jobs.at(job).memory.failures == 1);
  h.advance(1s);
  end_all(h, RunState::Failed);
  CHECK(h.jobs.at(job).state == JobState::Paused);
  CHECK(h.jobs.at(job).state_why == "2 runs in a row did not succeed (pause_after_failures)");
}

TEST_CASE("memory: while ticks are held a job is not ended; it is as soon as they go on") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(1s).pausing_after(1));
  h.advance(1s);
  h.handle(master::core::HoldTicks{"a test"});
  end_all(h, RunState::Failed);
  CHECK(h.jobs.at(job).state == JobState::Enabled);
  CHECK(h.jobs.at(job).memory.failures == 1);
  Harness next(h.recovered(), {}, Epoch{8});
  next.now = h.now;
  next.tick();
  CHECK(next.jobs.at(job).state == JobState::Paused);
  h.handle(master::core::HoldTicks{""});
  CHECK(h.jobs.at(job).state == JobState::Paused);
}

TEST_CASE("memory: a fixed delay counts from the end of the last run, and from the job's creation at first") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 5s; name again"}));
  h.advance(4900ms);
  CHECK(h.runs_of(job).empty());
  h.advance(200ms);
  REQUIRE(h.runs_of(job).size() == 1);
  h.advance(20s);
  CHECK(h.runs_of(job).size() == 1);
  auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].schedule == "again");
  h.accept(sent[0].attempt.run);
  h.report(sent[0].attempt.run, RunState::Succeeded);
  const WallTime due = h.now.wall + 5s;
  CHECK(h.jobs.at(job).memory.due == due);
  h.advance(4900ms);
  CHECK(h.runs_of(job).size() == 1);
  h.advance(200ms);
  REQUIRE(h.runs_of(job).size() == 2);
  CHECK(h.run(h.runs_of(job).back()).tick == due);
  CHECK(h.gaps_of(job).empty());
}

TEST_CASE("memory: a fixed delay does not count from an end that a wrong clock puts before the tick") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 5s"}));
  h.advance(5100ms);
  REQUIRE(h.runs_of(job).size() == 1);
  const RunId run = h.pop_dispatches().at(0).attempt.run;
  const WallTime tick = *h.run(run).tick;
  h.accept(run);
  model::AttemptReport line;
  line.key = h.attempt(run);
  line.worker = h.run(run).progress.worker;
  line.what = model::AttemptReport::What::Finished;
  line.outcome.state = RunState::Succeeded;
  line.outcome.started = tick - 3s;
  line.outcome.ended = tick - 2s;
  h.handle(Reported{Token{99}, line.worker, {line}});
  CHECK(h.jobs.at(job).memory.due == tick + 5s);
}

TEST_CASE("memory: an end that is told late does not bring a fixed delay forward") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 5s", "every 2s"}).overlap(model::Overlap::Allow));
  h.advance(4100ms);
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 2);
  report_end_at(h, sent[1].attempt.run, RunState::Succeeded, h.now.wall);
  const auto due = h.jobs.at(job).memory.due;
  REQUIRE(due == h.now.wall + 5s);
  report_end_at(h, sent[0].attempt.run, RunState::Succeeded, h.now.wall - 1s);
  CHECK(h.jobs.at(job).memory.due == due);
}

TEST_CASE("memory: the moment of a fixed delay survives a takeover, and one that was lost is made anew") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 5s"}));
  h.advance(3s);
  const auto due = h.jobs.at(job).memory.due;
  REQUIRE(due);
  auto lost = h.recovered();
  Harness next(h.recovered(), {}, Epoch{8});
  next.now = h.now;
  next.join(a_worker("w1", 8, "i2"));
  next.advance(2100ms);
  REQUIRE(next.runs_of(job).size() == 1);
  CHECK(next.run(next.runs_of(job).back()).tick == *due);
  for (auto& each : lost.jobs) each.job.memory.due.reset();
  Harness other(std::move(lost), {}, Epoch{8});
  other.now = h.now;
  other.join(a_worker("w1", 8, "i2"));
  other.advance(5100ms);
  CHECK(other.runs_of(job).size() == 1);
}

TEST_CASE("memory: beside a clock a fixed delay is not due while a run is unfinished") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 3s", "every 4s"}).overlap(model::Overlap::Allow));
  h.advance(20s);  // due after 3 s; that run never ends, so only the clock goes on
  CHECK(h.runs_of(job).size() == 1 + 5);
}

TEST_CASE("memory: a tick that replaces a run leaves no fixed delay before itself, which would fire it again") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobBuilder builder =
      a_job().entries({"every 4s", "after_end 1s"}).overlap(model::Overlap::Replace).retries(3, 60s);
  const JobId job = h.apply(builder);
  h.advance(1s);
  report_end_at(h, h.runs_of(job).at(0), RunState::Failed, h.now.wall);
  REQUIRE(h.reason(h.runs_of(job).at(0)) == Reason::RetryDelay);  // so the next tick ends it at once
  h.advance(3s);
  const auto runs = h.runs_of(job);
  REQUIRE(runs.size() == 2);
  CHECK(h.reason(runs.front()) == Reason::ReplacedBy);
  CHECK(h.jobs.at(job).memory.due > h.now.wall);
  h.apply(JobBuilder(builder).described("an edit"));
  CHECK(h.runs_of(job) == runs);
}

TEST_CASE("memory: a fixed delay is not due while a run by hand is unfinished") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"after_end 5s"}).overlap(model::Overlap::Allow));
  h.advance(2s);
  h.run_now("j");
  h.advance(20s);
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("memory: a fixed delay that is late fires once, or with late: skip counts from now") {
  for (const auto policy : {model::LatePolicy::FireOnce, model::LatePolicy::Skip}) {
    Harness h;
    h.join(a_worker("w1", 8));
    const JobId job = h.apply(a_job().entries({"after_end 5s"}).late(policy).grace(1s));
    h.jump_wall(60s);
    h.tick();
    CHECK(h.runs_of(job).size() == (policy == model::LatePolicy::Skip ? 0 : 1));
    if (policy == model::LatePolicy::Skip) CHECK(h.jobs.at(job).memory.due == h.now.wall + 5s);
  }
}

}  // namespace rota::test
