// What the snapshot says of the lines in which runs wait for slots.
#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;

TEST_CASE("lines: the snapshot tells of each waiting run its line, and how many of it are older") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(a_job("first").overlap(Overlap::Allow));
  h.apply(a_job("second").overlap(Overlap::Allow).priority(90));
  const RunId holds = h.run_now("first");
  const RunId one = h.run_now("first"), two = h.run_now("first"), other = h.run_now("second"), three = h.run_now("first");
  const Snapshot snapshot = h.scheduler->snapshot(h.now);
  REQUIRE(snapshot.lines.lines.size() == 2);
  CHECK(snapshot.lines.is_whole);
  const auto place = [&](RunId run) { return snapshot.waiting.find(run)->second.place; };
  const LineView& line = snapshot.lines.lines.at(static_cast<std::size_t>(place(one).line));
  CHECK(line.runs == 3);
  CHECK(line.head == one);
  CHECK(line.held == 1);
  CHECK(place(one).before == 0);
  CHECK(place(two).before == 1);
  CHECK(place(three).before == 2);
  CHECK(place(two).line == place(one).line);
  CHECK(place(other).line != place(one).line);
  CHECK(place(other).before == 0);
  CHECK(snapshot.lines.lines.at(static_cast<std::size_t>(place(other).line)).priority == 90);
  REQUIRE(snapshot.workers.size() == 1);
  CHECK(snapshot.workers[0].holds == std::vector<RunId>{holds});
}

TEST_CASE("lines: no more than are bounded, and the runs of others have no place") {
  Harness h;
  h.check_each = 100;
  for (std::size_t i = 0; i < kMostLineViews + 1; ++i) {
    const std::string name = "job" + std::to_string(i);
    h.apply(a_job(name).overlap(Overlap::Allow));
    h.run_now(name);
  }
  const Snapshot snapshot = h.scheduler->snapshot(h.now);
  CHECK(snapshot.lines.lines.size() == kMostLineViews);
  CHECK_FALSE(snapshot.lines.is_whole);
  std::size_t without = 0;
  for (const auto& [id, view] : snapshot.waiting) without += view.place.line < 0 ? 1 : 0;
  CHECK(without == 1);
}

TEST_CASE("lines: who holds what a pool or a namespace may have is told where it is limited") {
  Harness h;
  h.join(a_worker("w1", 5));
  h.apply(a_job("first").overlap(Overlap::Allow));
  const RunId holds = h.run_now("first");
  CHECK(h.scheduler->snapshot(h.now).pools.at(0).holders.empty());
  SetQuota limit;
  limit.of = model::QuotaOf::Pool;
  limit.name = "default";
  limit.slots = 1;
  h.handle(limit);
  const RunId waits = h.run_now("first");
  const Snapshot snapshot = h.scheduler->snapshot(h.now);
  CHECK(snapshot.pools.at(0).holders == std::vector<RunId>{holds});
  CHECK(snapshot.waiting.find(waits)->second.reason == model::Reason::PoolLimit);
}
