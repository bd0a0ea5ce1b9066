// Jitter: the tick stays where it is, and its run starts later.
#include <doctest/doctest.h>

#include "harness.h"

namespace rota::test {

using namespace std::chrono_literals;
using model::Reason;
using model::RunState;

TEST_CASE("jitter: the tick stays where it is, its run starts later, always as much") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s"}));
  h.advance(100s);
  REQUIRE(h.runs_of(job).size() == 1);
  const RunId run = h.runs_of(job)[0];
  const WallTime tick = *h.run(run).tick;
  CHECK(h.state(run) == RunState::Waiting);
  CHECK(h.reason(run) == Reason::Jitter);
  const auto start = h.run(run).progress.not_before;
  REQUIRE(start);
  CHECK(*start > tick);
  CHECK(*start <= tick + 60s);
  Harness next(h.recovered(), {}, Epoch{8});
  next.now.wall = h.now.wall;  // its timers were set by its own monotonic clock
  next.join(a_worker("w1", 8, "i2"));
  next.advance(*start - next.now.wall - 10ms);
  CHECK(next.pop_dispatches().empty());
  next.advance(20ms);
  CHECK(next.pop_dispatches().size() == 1);
  h.advance(*start - h.now.wall + 10ms);
  CHECK(h.pop_dispatches().size() == 1);
}

TEST_CASE("jitter: a run that a clock far ahead recorded waits no longer than its jitter after a rewind") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s"}));
  const WallTime right = h.now.wall;
  h.jump_wall(std::chrono::hours{2});
  h.tick();
  REQUIRE_FALSE(h.runs_of(job).empty());
  for (int i = 0; i < 200 && h.reason(h.runs_of(job).back()) != Reason::Jitter; ++i) h.advance(1s);
  REQUIRE(h.reason(h.runs_of(job).back()) == Reason::Jitter);
  auto all = h.recovered();
  all.watermark = master::core::Watermark(right);
  for (auto& each : all.jobs) each.job.ticks_through.reset();
  Harness next(std::move(all), {}, Epoch{8});
  next.now.wall = right;
  next.join(a_worker("w1", 8, "i2"));
  next.advance(61s);
  CHECK(next.pop_dispatches().size() >= 1);
}

TEST_CASE("jitter: a run that waited behind another does not start before its jitter is over") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s"}).overlap(model::Overlap::Queue));
  h.advance(160s);  // the jitter of the first run is over
  const auto first = h.pop_dispatches();
  REQUIRE(first.size() == 1);
  h.advance(40s);
  REQUIRE(h.runs_of(job).size() == 2);
  const RunId second = h.runs_of(job)[1];
  CHECK(h.reason(second) == Reason::WaitsForRun);
  const auto start = h.run(second).progress.not_before;
  REQUIRE(start);
  CHECK(*start > h.now.wall);
  Harness next(h.recovered(), {}, Epoch{8});  // another leader knows it too
  next.now = h.now;
  next.runs = h.runs;
  for (Harness* leader : {&h, &next}) {
    leader->report(first[0].attempt.run, RunState::Succeeded);
    if (leader == &next) next.join(a_worker("w1", 8, "i1"));
    CHECK(leader->pop_dispatches().empty());
    CHECK(leader->reason(second) == Reason::Jitter);
    leader->advance(*start - leader->now.wall - 10ms);
    CHECK(leader->pop_dispatches().empty());
    leader->advance(20ms);
    CHECK(leader->pop_dispatches().size() == 1);
  }
}

TEST_CASE("jitter: a run whose jitter is over while it waits behind another starts with that one's end") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s"}).overlap(model::Overlap::Queue));
  h.advance(160s);
  const auto first = h.pop_dispatches();
  REQUIRE(first.size() == 1);
  h.advance(110s);
  h.report(first[0].attempt.run, RunState::Succeeded);
  CHECK(h.pop_dispatches().size() == 1);
  CHECK(h.run(h.runs_of(job)[1]).progress.not_before == std::nullopt);
}

TEST_CASE("jitter: the smallest one of the entries that are due counts") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("spread").entries({"every 100s; jitter 60s", "every 200s"}).overlap(model::Overlap::Allow));
  h.advance(200s);
  REQUIRE(h.runs_of(job).size() == 2);
  CHECK(h.run(h.runs_of(job)[1]).progress.not_before == std::nullopt);
}

}  // namespace rota::test
