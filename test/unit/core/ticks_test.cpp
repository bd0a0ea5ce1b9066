#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using model::Reason;
using model::RunState;

TEST_CASE("ticks: a free slot takes a tick as one row, already dispatched") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(5s));
  h.row_writes = 0;
  h.advance(5s);
  const auto runs = h.runs_of(job);
  REQUIRE(runs.size() == 1);
  CHECK(h.state(runs[0]) == RunState::Dispatched);
  CHECK(h.run(runs[0]).progress.worker.id == "w1");
  CHECK(h.run(runs[0]).tick == h.now.wall);
  CHECK(h.pop_dispatches().size() == 1);
  h.accept(runs[0]);
  h.report(runs[0], RunState::Succeeded);
  CHECK(h.state(runs[0]) == RunState::Succeeded);
  CHECK(h.row_writes == 2);
}

TEST_CASE("ticks: entries that are due at one moment are one tick, and the run is told their names") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job().entries({"every 2s; name two", "every 3s"}).overlap(model::Overlap::Allow));
  h.advance(2s);
  auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].schedule == "two");
  h.advance(4s);
  CHECK(h.runs_of(job).size() == 4);  // at 2, 3, 4 and 6 seconds
  sent = h.pop_dispatches();
  REQUIRE_FALSE(sent.empty());
  CHECK(sent.back().schedule == "two,2");
}

TEST_CASE("ticks: an edit that leaves the entries alone keeps their grid") {
  Harness h;
  h.join(a_worker("w1", 8));
  const auto job = a_job().entries({"every 10s", "every 35s"}).overlap(model::Overlap::Allow);
  const JobId id = h.apply(job);
  h.advance(7s);
  h.apply(a_job().entries({"every 10s", "every 35s"}).overlap(model::Overlap::Allow).queue_limit(7));
  h.advance(3s);
  CHECK(h.runs_of(id).size() == 1);
}

TEST_CASE("ticks: the watermark moves with the rows and never passes a tick that has none") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  h.advance(3s);
  CHECK(h.watermark == h.now.wall);
}

TEST_CASE("ticks: an idle leader without scheduled jobs writes nothing") {
  Harness h;
  h.join(a_worker("w1"));
  h.row_writes = h.watermark_writes = 0;
  h.advance(1h);
  CHECK(h.watermark_writes == 0);
  CHECK(h.row_writes == 0);
}

TEST_CASE("ticks: with a job that is not due the watermark alone is written every ten seconds") {
  Harness h;
  h.apply(a_job().every(24h));
  h.watermark_writes = 0;
  h.advance(60s);
  CHECK(h.watermark_writes == 6);
}

TEST_CASE("ticks: an overlapping tick is a gap that names the run, neighbours share a row") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(1s));
  h.advance(1s);
  h.now.wall += 3s;
  h.now.mono += 3s;
  h.tick();
  REQUIRE(h.gaps_of(job).size() == 1);
  const model::Gap gap = h.gaps_of(job)[0];
  CHECK(gap.count == 3);
  CHECK(gap.reason == Reason::OverlapSkipped);
  CHECK(gap.reference == h.runs_of(job)[0].value);
  CHECK(gap.to - gap.from == 2s);
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("ticks: within the grace every late tick fires, oldest first") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  h.now.wall += 30s;
  h.now.mono += 30s;
  h.tick();
  CHECK(h.runs_of(job).size() == 30);
  CHECK(h.gaps_of(job).empty());
  const auto items = h.pop_dispatches();
  REQUIRE(items.size() == 30);
  CHECK(*items.front().tick < *items.back().tick);
}

TEST_CASE("ticks: beyond the grace") {
  Harness h;
  h.join(a_worker("w1", 100));
  JobBuilder job = a_job().every(1s).grace(10s).overlap(model::Overlap::Allow);
  SUBCASE("fire_once fires the newest missed tick and coalesces the others into it") {
    const JobId id = h.apply(job);
    h.now.wall += 100s;
    h.now.mono += 100s;
    h.tick();
    REQUIRE(h.gaps_of(id).size() == 1);
    const auto runs = h.runs_of(id);
    CHECK(runs.size() == 12);  // the newest of the 89 late ones, and 11 within the grace
    CHECK(h.gaps_of(id)[0].count == 88);
    CHECK(h.gaps_of(id)[0].reason == Reason::CoalescedInto);
    CHECK(h.gaps_of(id)[0].reference == runs[0].value);
    CHECK(*h.run(runs[0]).tick == h.gaps_of(id)[0].to + 1s);
  }
  SUBCASE("skip leaves one gap row") {
    const JobId id = h.apply(job.late(model::LatePolicy::Skip));
    h.now.wall += 100s;
    h.now.mono += 100s;
    h.tick();
    REQUIRE(h.gaps_of(id).size() == 1);
    CHECK(h.gaps_of(id)[0].count == 89);
    CHECK(h.gaps_of(id)[0].reason == Reason::LateSkipped);
    CHECK(h.runs_of(id).size() == 11);
  }
}

TEST_CASE("ticks: a single late tick fires and leaves no gap") {
  Harness h;
  const JobId id = h.apply(a_job().once_at(h.now.wall + 1s).grace(10s));
  h.now.wall += 100s;
  h.tick();
  CHECK(h.runs_of(id).size() == 1);
  CHECK(h.gaps.empty());
}

TEST_CASE("ticks: a large backlog is taken in slices, each tick once") {
  master::core::CoreOptions options;
  options.fire_at_most = 50;
  Harness h({}, options);
  std::vector<JobId> jobs;
  for (int i = 0; i < 7; ++i) {
    jobs.push_back(h.apply(a_job("j" + std::to_string(i))
                               .every(1s)
                               .overlap(model::Overlap::Allow)
                               .grace(i % 2 == 0 ? 20s : 1h)));
  }
  h.now.wall += 10min;
  h.now.mono += 10min;
  int slices = 0;
  do {
    h.tick();
    CHECK(h.last.changes.new_runs.size() + h.last.changes.gaps.size() <= 50);
    ++slices;
  } while (h.scheduler->next_wake(h.now) == Millis{0});
  CHECK(slices > 10);
  CHECK(h.watermark == h.now.wall);
  for (const JobId job : jobs) {
    std::int64_t counted = static_cast<std::int64_t>(h.runs_of(job).size());
    for (const auto& gap : h.gaps_of(job)) counted += gap.count;
    CHECK(counted == 600);
  }
  CHECK(h.runs_of(jobs[0]).size() == 22);
  CHECK(h.runs_of(jobs[1]).size() == 600);
}

TEST_CASE("ticks: a clock that jumps back makes no tick twice, one that jumps forward none lost") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId job = h.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  h.advance(10s);
  h.jump_wall(-8s);
  h.advance(8s);
  CHECK(h.runs_of(job).size() == 10);
  h.advance(1s);
  CHECK(h.runs_of(job).size() == 11);
  h.jump_wall(20s);
  h.tick();
  CHECK(h.runs_of(job).size() == 31);
}

TEST_CASE("ticks: a new leader goes on after the watermark, each tick once") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  before.advance(5s);
  Harness after(before.recovered(), {}, Epoch{8});
  after.now = before.now;
  after.now.wall += 3s;
  after.tick();
  CHECK(after.runs_of(job).size() == 8);
  CHECK(after.gaps.empty());
}

TEST_CASE("ticks: a database that went back holds them, and says why") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s));
  master::core::Recovered recovered = before.recovered();
  recovered.database_went_back = true;
  Harness h(std::move(recovered), {}, Epoch{8});
  h.advance(10s);
  CHECK(h.runs_of(job).empty());
  CHECK(!h.scheduler->snapshot(h.now).tick_hold.empty());
  h.pause("j");
  CHECK(std::get<Error>(h.last.replies.at(0).body).code == ErrorCode::Unavailable);
  h.handle(master::core::HoldTicks{});
  h.tick();
  CHECK(h.runs_of(job).size() == 1);
  CHECK(h.gaps_of(job).size() == 1);
}

TEST_CASE("ticks: a Term that begins with a clock in doubt holds them from its first turn") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s));
  master::core::CoreOptions options;
  options.tick_hold = "the clock stepped";
  Harness h(before.recovered(), options, Epoch{8});
  h.advance(10s);
  CHECK(h.runs_of(job).empty());
  CHECK(h.scheduler->snapshot(h.now).tick_hold == "the clock stepped");
  h.handle(master::core::HoldTicks{});
  h.tick();
  CHECK(h.runs_of(job).size() == 1);
}

TEST_CASE("ticks: the newest of many is found without walking them all") {
  Harness h;
  const JobId job = h.apply(a_job().every(100ms).grace(0ms));
  h.now.wall += std::chrono::days{365 * 20};
  h.tick();
  REQUIRE(h.gaps_of(job).size() >= 1);
  std::int64_t counted = 1;
  for (const auto& gap : h.gaps_of(job)) counted += gap.count;
  CHECK(counted == std::int64_t{86400} * 10 * 365 * 20);
}

TEST_CASE("ticks: what fired before a rewind keeps its run, is passed over, and lies in no gap") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  before.advance(5s);
  const WallTime start = before.now.wall;
  master::core::Recovered recovered = before.recovered();
  for (const Millis ahead : {2000ms, 3000ms, 15'000ms}) recovered.taken.emplace_back(job, start + ahead);
  Harness h(std::move(recovered), {}, Epoch{8});
  h.now = before.now;
  const std::size_t unfinished = h.runs_of(job).size();
  h.advance(4s);
  CHECK(h.runs_of(job).size() - unfinished == 2);  // at 1 s and 4 s
  CHECK(h.gaps_of(job).empty());
  h.jump_wall(10min);
  h.tick();
  std::int64_t skipped = 0;
  for (const model::Gap& gap : h.gaps_of(job)) {
    skipped += gap.count;
    CHECK_FALSE((gap.from <= start + 15s && gap.to >= start + 15s));
  }
  CHECK(static_cast<std::int64_t>(h.runs_of(job).size() - unfinished) + skipped == 604 - 3);
}

TEST_CASE("ticks: what fired before a rewind is passed over after a pause, and after edits, too") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s).overlap(model::Overlap::Allow));
  before.advance(5s);
  const WallTime start = before.now.wall;
  master::core::Recovered recovered = before.recovered();
  recovered.taken.emplace_back(job, start + 8s);
  Harness h(std::move(recovered), {}, Epoch{8});
  h.now = before.now;
  const auto fired_at = [&](WallTime tick) {
    std::size_t count = 0;
    for (const RunId id : h.runs_of(job)) count += h.run(id).tick == tick ? 1 : 0;
    return count;
  };
  SUBCASE("paused and resumed") {
    h.advance(1s);
    h.pause("j");
    h.advance(1s);
    h.pause("j", false);
  }
  SUBCASE("edited to a schedule whose next tick comes later, and back") {
    h.advance(1s);
    h.apply(a_job().every(1h).overlap(model::Overlap::Allow));
    h.advance(1s);
    h.apply(a_job().every(1s).starting(start).overlap(model::Overlap::Allow));
  }
  h.advance(4900ms);
  CHECK(fired_at(start + 6s) == 1);
  h.advance(5s);
  CHECK(fired_at(start + 8s) == 0);
  CHECK(fired_at(start + 9s) == 1);
  for (const model::Gap& gap : h.gaps_of(job)) CHECK_FALSE((gap.from <= start + 8s && gap.to >= start + 8s));
}
