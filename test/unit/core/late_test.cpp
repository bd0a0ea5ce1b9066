// Late ticks: which of them fire, and when the runs that stand for them start.
#include <doctest/doctest.h>

#include "harness.h"
#include "master/core/admission/late_rules.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::LatePolicy;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

void sleep_through(Harness& h, Millis by) {
  h.now.wall += by;
  h.now.mono += by;
  h.tick();
}

std::int64_t accounted(const Harness& h, JobId job) {
  std::int64_t counted = static_cast<std::int64_t>(h.runs_of(job).size());
  for (const model::Gap& gap : h.gaps_of(job)) counted += gap.count;
  return counted;
}

std::vector<JobId> many_jobs(Harness& h, int count, const JobBuilder& like) {
  std::vector<JobId> jobs;
  for (int i = 0; i < count; ++i) {
    JobBuilder job = like;
    jobs.push_back(h.apply(job.named("late" + std::to_string(i))));
  }
  return jobs;
}

/// Every attempt that was sent ends at once. Gives how many there were.
std::size_t finish_all(Harness& h) {
  const auto items = h.pop_dispatches();
  for (const DispatchItem& item : items) {
    h.accept(item.attempt.run);
    h.report(item.attempt.run, RunState::Succeeded);
  }
  return items.size();
}

}  // namespace

TEST_CASE("late: fire_all fires each late tick, oldest first, one after the other") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId job = h.apply(a_job().every(1s).grace(3s).overlap(Overlap::Queue).late(LatePolicy::FireAll));
  h.advance(1s);
  finish_all(h);
  sleep_through(h, 20s);
  CHECK(h.gaps.empty());
  CHECK(h.runs_of(job).size() == 21);
  std::vector<WallTime> order;
  for (int i = 0; i < 400; ++i) {
    for (const DispatchItem& item : h.pop_dispatches()) {
      if (h.run(item.attempt.run).recorded - *item.tick > 3s) order.push_back(*item.tick);
      h.report(item.attempt.run, RunState::Succeeded);
    }
    h.advance(50ms);
  }
  CHECK(order.size() == 16);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("late: fire_all keeps the newest thousand of a job, the rest is one gap") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).grace(10s).overlap(Overlap::Allow).late(LatePolicy::FireAll));
  SUBCASE("in one batch") { sleep_through(h, 2h); }
  SUBCASE("in slices, in which no moment is whole") {
    CoreOptions options;
    options.fire_at_most = 40;
    Harness other(h.recovered(), options, Epoch{8});
    other.now = h.now;
    sleep_through(other, 2h);
    while (other.scheduler->next_wake(other.now) == Millis{0}) other.tick();
    CHECK(accounted(other, job) == 7200);
    std::int64_t bounded = 0;
    for (const model::Gap& gap : other.gaps_of(job)) bounded += gap.reason == Reason::LateBounded ? gap.count : 0;
    CHECK(bounded == 7200 - 11 - 1000);
    for (const model::Gap& gap : other.gaps_of(job)) CHECK(gap.to < *other.run(other.runs_of(job)[0]).tick);
    return;
  }
  REQUIRE(h.gaps_of(job).size() == 1);
  CHECK(h.gaps_of(job)[0].reason == Reason::LateBounded);
  CHECK(h.gaps_of(job)[0].count == 7200 - 11 - 1000);
  CHECK(*h.run(h.runs_of(job)[0]).tick == h.gaps_of(job)[0].to + 1s);
  CHECK(accounted(h, job) == 7200);
}

TEST_CASE("late: runs of late ticks start at the rate of their pool, live ones at once") {
  Harness h;
  h.join(a_worker("w1", 1000));
  h.join([] { auto w = a_worker("w2", 1000); w.pool = "other"; return w; }());
  many_jobs(h, 200, a_job().every(1h).grace(10s));
  h.apply(a_job("elsewhere").every(1h).grace(10s).pool("other"));
  h.advance(10s);
  h.apply(a_job("live").every(1s));
  h.advance(1s);
  finish_all(h);
  sleep_through(h, 1h);
  std::size_t late = 0;
  for (int second = 0; second < 5; ++second) {
    late += finish_all(h);
    h.advance(1s);
  }
  late += finish_all(h);
  CHECK(late == 101 + 1 + 1 + 5);  // at the rate, elsewhere, live: the first in its grace, and the five of now
}

TEST_CASE("late: a live tick does not wait for a run that is still to be caught up") {
  Harness h;
  h.join(a_worker("w1", 1));
  many_jobs(h, 50, a_job().every(1h).grace(10s));
  for (const Overlap overlap : {Overlap::Skip, Overlap::Queue}) {
    const std::string name = overlap == Overlap::Skip ? "skips" : "queues";
    h.apply(a_job(name).every(60s).grace(5s).overlap(overlap));
  }
  sleep_through(h, 90min);
  // The worker has one slot: whatever holds it, the live ticks of both jobs come next.
  int live = 0;
  for (int i = 0; i < 2400; ++i) {
    h.advance(100ms);
    for (const DispatchItem& item : h.pop_dispatches()) {
      const model::Run& run = h.run(item.attempt.run);
      live += run.recorded - *run.tick < 1s ? 1 : 0;
      if (run.recorded - *run.tick < 1s) CHECK(h.now.wall - *run.tick <= 200ms);
      h.report(run.id, RunState::Succeeded);
    }
  }
  CHECK(live == 9);  // of the last two one has no slot yet
}

TEST_CASE("late: one that waits stands for the ticks of the next outage too") {
  Harness h;
  const JobId job = h.apply(a_job().every(60s).grace(5s).overlap(Overlap::Queue));
  sleep_through(h, 1h);
  const RunId first = h.runs_of(job).at(0);
  CHECK(h.reason(first) == Reason::CaughtUp);
  sleep_through(h, 1h);
  CHECK(accounted(h, job) == 120);
  CHECK(h.gaps_of(job).back().reason == Reason::CoalescedInto);
  CHECK(h.gaps_of(job).back().reference == first.value);
}

TEST_CASE("late: ticks behind a run that goes on are missed, also where a short grace has them recorded in parts") {
  CoreOptions options;
  options.fire_at_most = 8;
  Harness h({}, options);
  h.join(a_worker("w1", 100));
  const JobId job = h.apply(a_job("short").every(1s).grace(1s).overlap(Overlap::Skip));
  h.apply(a_job("crowd").every(1s).grace(60s).overlap(Overlap::Allow));  // all of its ticks are live
  h.advance(1s);
  for (const DispatchItem& item : h.pop_dispatches()) h.accept(item.attempt.run);
  REQUIRE(h.runs_of(job).size() == 1);
  sleep_through(h, 20s);
  while (h.scheduler->next_wake(h.now) == Millis{0}) h.tick();
  CHECK(h.runs_of(job).size() == 1);
  REQUIRE(h.gaps_of(job).size() > 1);
  for (const model::Gap& gap : h.gaps_of(job)) {
    CHECK(gap.reason != Reason::CoalescedInto);
    CHECK(gap.reference == h.runs_of(job).front().value);
  }
  CHECK(h.gaps_of(job).front().reason == Reason::Missed);
}

TEST_CASE("late: with a short grace the ticks of an outage behind a run are missed, not skipped for an overlap") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId job = h.apply(a_job("short").every(1s).grace(500ms).overlap(Overlap::Skip));
  h.advance(1s);
  for (const DispatchItem& item : h.pop_dispatches()) h.accept(item.attempt.run);
  const WallTime outage = h.now.wall;
  sleep_through(h, 20s);
  std::int64_t missed = 0, skipped = 0;
  for (const model::Gap& gap : h.gaps_of(job)) {
    CHECK(gap.from > outage);
    (gap.reason == Reason::Missed ? missed : skipped) += gap.count;
    if (gap.reason != Reason::Missed) CHECK(gap.reason == Reason::OverlapSkipped);
  }
  CHECK(missed == 17);  // older than the two seconds within which a run in the way is told as it is
  CHECK(skipped == 3);
}

TEST_CASE("late: a new leader goes on with what waits, nothing twice and nothing lost") {
  Harness h;
  h.join(a_worker("w1", 1000));
  many_jobs(h, 60, a_job().every(1h).grace(10s));
  sleep_through(h, 90min);
  h.advance(1s);
  std::size_t started = finish_all(h);
  CHECK(started < 30);
  Harness after(h.recovered(), {}, Epoch{8});
  after.now = h.now;
  after.join(a_worker("w1", 1000));
  after.advance(1s);
  CHECK(after.pop_dispatches().size() <= 21);
  after.advance(10s);
  for (const auto& [id, run] : after.runs) CHECK(run.progress.attempt == 1);
}

TEST_CASE("late: why a late run waits is told with its time") {
  Harness h;
  h.join(a_worker("w1", 1000));
  const auto jobs = many_jobs(h, 101, a_job().every(1h).grace(10s));
  sleep_through(h, 90min);
  const RunId last = h.runs_of(jobs.back()).at(0);
  CHECK(h.view(last).reason == Reason::CaughtUp);
  CHECK(h.view(last).detail == "caught up at 20 a second: about 5 s left for the 100 that wait");
  h.cancel(last);
  CHECK(h.state(last) == RunState::Cancelled);
}

TEST_CASE("late: without a worker that is the reason") {
  Harness h;
  const JobId job = h.apply(a_job().every(1h).grace(10s));
  sleep_through(h, 90min);
  h.listed();
  CHECK(h.view(h.runs_of(job).at(0)).reason == Reason::NoWorkerInPool);
}

TEST_CASE("late: fire_all fires also when the queue of its job is full") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job =
      h.apply(a_job().every(10s).grace(1s).overlap(Overlap::Queue).queue_limit(1).late(LatePolicy::FireAll));
  h.advance(20s);
  CHECK(h.reason(h.runs_of(job).at(1)) == Reason::WaitsForRun);
  sleep_through(h, 60s);
  CHECK(accounted(h, job) == 8);
  CHECK(h.gaps.size() == 1);  // the last tick is live
  h.advance(2s);
  int started = 0;
  for (const RunId id : h.runs_of(job)) started += h.run(id).progress.attempt > 0 ? 1 : 0;
  CHECK(started == 1);  // the others wait for its end
}

TEST_CASE("late: fire_all stops where `firings` ends the job") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId job =
      h.apply(a_job().every(10s).grace(1s).overlap(Overlap::Allow).late(LatePolicy::FireAll).firings(4));
  sleep_through(h, 105s);
  CHECK(h.runs_of(job).size() == 4);
  CHECK(h.gaps.empty());
  CHECK(h.jobs.at(job).state == model::JobState::Paused);
}

TEST_CASE("late: a fixed delay that is late is caught up, and stands for itself until then") {
  Harness h;
  const JobId job = h.apply(a_job().entries({"after_end 5s"}).grace(1s));
  sleep_through(h, 60s);
  REQUIRE(h.runs_of(job).size() == 1);
  CHECK(h.reason(h.runs_of(job)[0]) == Reason::CaughtUp);
  h.advance(60s);
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("late: the grace alone says what is late, also within two seconds") {
  for (const bool is_late : {false, true}) {
    Harness h;
    h.join(a_worker("w1", 8));
    const JobId job = h.apply(a_job().every(100s).grace(is_late ? 999ms : 1s).late(LatePolicy::Skip));
    sleep_through(h, 101s);
    CHECK(h.runs_of(job).size() == (is_late ? 0 : 1));
    REQUIRE(h.gaps.size() == (is_late ? 1 : 0));
    if (is_late) CHECK(h.gaps[0].reason == Reason::LateSkipped);
  }
}

TEST_CASE("late: a late tick that is recorded within two seconds need not be caught up") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().every(100s).grace(0s));
  sleep_through(h, 102s);
  REQUIRE(h.runs_of(job).size() == 1);
  CHECK(h.pop_dispatches().size() == 1);
  CHECK(h.reason(h.runs_of(job)[0]) != Reason::CaughtUp);
}

TEST_CASE("late: a run whose jitter is not over starts when it is") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s"}).grace(1s));
  sleep_through(h, 104s);
  REQUIRE(h.runs_of(job).size() == 1);
  CHECK(h.reason(h.runs_of(job)[0]) == Reason::Jitter);
}
