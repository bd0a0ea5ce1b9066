// Freezes: ticks that do not fire for a while, and the runs that stand for them afterwards.
#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::LatePolicy;
using model::Overlap;
using model::Reason;
using model::RunKind;

namespace {

void freeze(Harness& h, Millis how_long, const std::string& space = "") {
  h.handle(BeginFreeze{Token{900}, "ann", space, h.now.wall + how_long, "deploy"});
}

const FreezeTaken* taken(const Harness& h) {
  return h.last.replies.empty() ? nullptr : std::get_if<FreezeTaken>(&h.last.replies.back().body);
}

std::string refused(const Harness& h) {
  const auto* error = h.last.replies.empty() ? nullptr : std::get_if<Error>(&h.last.replies.back().body);
  return error == nullptr ? "" : error->message;
}

std::vector<model::Run> made_up(const Harness& h, JobId job) {
  std::vector<model::Run> out;
  for (const auto& [id, run] : h.runs) {
    if (run.job == job && run.kind == RunKind::AfterFreeze) out.push_back(run);
  }
  return out;
}

std::int64_t frozen(const Harness& h, JobId job) {
  std::int64_t count = 0;
  for (const model::Gap& gap : h.gaps_of(job)) count += gap.reason == Reason::Frozen ? gap.count : 0;
  return count;
}

}  // namespace

TEST_CASE("freeze: ticks become gaps that name it, and fire_once starts one run at its end") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(1s).overlap(Overlap::Allow));
  h.advance(2s);
  freeze(h, 10s);
  REQUIRE(taken(h) != nullptr);
  const std::int64_t id = taken(h)->freeze.id;
  h.advance(9s);
  CHECK(h.runs_of(job).size() == 2);
  CHECK(frozen(h, job) == 9);
  CHECK(h.gaps_of(job).back().reference == id);
  CHECK(h.scheduler->snapshot(h.now).freezes.size() == 1);
  h.advance(1s);
  const auto runs = made_up(h, job);
  REQUIRE(runs.size() == 1);
  CHECK(!runs[0].tick);
  CHECK(runs[0].scheduled == h.now.wall - 1s);
  CHECK(runs[0].request_key == model::freeze_key(id, job, runs[0].scheduled));
  CHECK(h.runs_of(job).size() == 4);  // the tick at its end fires
  CHECK(h.scheduler->snapshot(h.now).freezes.empty());
  h.advance(60s);
  CHECK(made_up(h, job).size() == 1);
}

TEST_CASE("freeze: fire_all makes up for each tick, skip for none") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId all = h.apply(a_job("all").every(1s).overlap(Overlap::Queue).late(LatePolicy::FireAll));
  const JobId none = h.apply(a_job("none").every(1s).late(LatePolicy::Skip));
  freeze(h, 8s);
  h.advance(10s);
  CHECK(frozen(h, all) == 7);
  CHECK(made_up(h, all).size() == 7);
  CHECK(made_up(h, none).empty());
}

TEST_CASE("freeze: of one namespace leaves the others alone") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).overlap(Overlap::Allow));
  freeze(h, 5s, "elsewhere");
  h.advance(3s);
  CHECK(h.runs_of(job).size() == 3);
  freeze(h, 5s, "");
  CHECK(refused(h).find("frozen already") != std::string::npos);
  freeze(h, 60s, "elsewhere");
  CHECK(taken(h) != nullptr);
  h.handle(EndFreeze{Token{901}, "ann", ""});
  CHECK(refused(h).find("is not frozen") != std::string::npos);
}

TEST_CASE("freeze: a tick is frozen by its moment, also when it is recorded late") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).grace(2s).overlap(Overlap::Allow));
  h.advance(1s);
  freeze(h, 5s);
  h.now.wall += 20s;
  h.now.mono += 20s;
  h.tick();
  CHECK(frozen(h, job) == 4);
  std::int64_t all = static_cast<std::int64_t>(h.runs_of(job).size() - made_up(h, job).size());
  for (const model::Gap& gap : h.gaps_of(job)) all += gap.count;
  CHECK(all == 21);
  CHECK(made_up(h, job).size() == 1);
}

TEST_CASE("freeze: late ticks before one are made up for at once") {
  Harness h;
  const JobId job = h.apply(a_job().every(1s).grace(2s).overlap(Overlap::Allow));
  h.now.wall += 20s;
  h.now.mono += 20s;
  freeze(h, 1h);
  h.now.wall += 10s;
  h.now.mono += 10s;
  h.tick();
  CHECK(h.runs_of(job).size() == 1);
  CHECK(h.gaps_of(job).front().reason == Reason::CoalescedInto);
  CHECK(h.gaps_of(job).front().count == 19);
  CHECK(frozen(h, job) == 10);
}

TEST_CASE("freeze: ended before its time, also in the middle of a Term of another leader") {
  Harness before;
  const JobId job = before.apply(a_job().every(1s).overlap(Overlap::Allow));
  freeze(before, 1h);
  before.advance(5s);
  Harness h(before.recovered(), {}, Epoch{8});
  h.versions = before.versions;
  h.now = before.now;
  h.advance(5s);
  CHECK(h.runs_of(job).empty());
  h.handle(EndFreeze{Token{901}, "bob", ""});
  REQUIRE(taken(h) != nullptr);
  h.advance(10ms);
  CHECK(made_up(h, job).size() == 1);
  Harness after(h.recovered(), {}, Epoch{9});
  after.now = h.now;
  after.advance(5s);
  CHECK(made_up(after, job).size() == 1);
  CHECK(after.scheduler->snapshot(after.now).freezes.empty());
}

TEST_CASE("freeze: many jobs are made up for in bounded turns") {
  Harness h;
  h.check_each = 100;
  for (int i = 0; i < 5001; ++i) h.apply(a_job("j" + std::to_string(i)).every(10s));
  freeze(h, 11s);
  h.now.wall += 12s;
  h.now.mono += 12s;
  int turns = 0;
  while (!h.scheduler->snapshot(h.now).freezes.empty()) {
    h.tick();
    REQUIRE(++turns < 100);
  }
  CHECK(turns >= 3);
  std::size_t made = 0;
  for (const auto& [id, run] : h.runs) made += run.kind == RunKind::AfterFreeze ? 1 : 0;
  CHECK(made == 5001);
}

TEST_CASE("freeze: nothing is made up for before all frozen ticks are recorded") {
  CoreOptions options;
  options.fire_at_most = 5;
  Harness h({}, options);
  for (int i = 0; i < 30; ++i) h.apply(a_job("j" + std::to_string(i)).every(1s).grace(0ms));
  freeze(h, 11s);
  h.now.wall += 60s;
  h.now.mono += 60s;
  const auto is_in_gap = [&h](const model::Run& run) {
    const auto gaps = h.gaps_of(run.job);
    return std::ranges::any_of(gaps, [&](const model::Gap& gap) {
      return gap.reason == Reason::Frozen && gap.from <= run.scheduled && run.scheduled <= gap.to;
    });
  };
  std::size_t made = 0;
  do {
    h.tick();
    made = 0;
    for (const auto& [id, run] : h.runs) {
      if (run.kind != RunKind::AfterFreeze) continue;
      ++made;
      CHECK(is_in_gap(run));
    }
  } while (h.scheduler->next_wake(h.now) == Millis{0});
  CHECK(made == 30);
}

TEST_CASE("freeze: one that is over already, or too many, is refused") {
  Harness h;
  freeze(h, 0s);
  CHECK(refused(h).find("is over already") != std::string::npos);
}

TEST_CASE("freeze: runs that stand for frozen ticks count as firings") {
  Harness h;
  h.join(a_worker("w1", 100));
  const JobId all = h.apply(
      a_job("all").every(1s).overlap(Overlap::Allow).late(LatePolicy::FireAll).firings(3));
  const JobId once = h.apply(a_job("once").every(1s).overlap(Overlap::Allow).firings(1));
  freeze(h, 8s);
  h.advance(20s);
  CHECK(made_up(h, all).size() == 2);  // the tick at its end comes first
  CHECK(h.runs_of(all).size() == 3);
  CHECK(h.runs_of(once).size() == 1);
  for (const JobId job : {all, once}) CHECK(h.jobs.at(job).state == model::JobState::Paused);
}

TEST_CASE("freeze: a delay after an end that comes due in it waits for its end") {
  Harness h;
  h.join(a_worker("w1", 8));
  const JobId job = h.apply(a_job("again").entries({"after_end 5s"}));
  const JobId skips = h.apply(a_job("skips").entries({"after_end 5s"}).late(LatePolicy::Skip));
  freeze(h, 60s);
  const WallTime end = h.now.wall + 60s;
  SUBCASE("the planned one") {
    h.advance(59'900ms);
    CHECK(h.runs_of(job).empty());
    h.advance(200ms);
    REQUIRE(h.runs_of(job).size() == 1);
    CHECK(h.run(h.runs_of(job)[0]).tick == end);
    CHECK(h.runs_of(skips).empty());
    h.advance(5s);
    CHECK(h.runs_of(skips).size() == 1);
  }
  SUBCASE("one that comes before") {
    h.advance(20s);
    h.handle(EndFreeze{Token{901}, "ann", ""});
    h.advance(100ms);
    CHECK(h.runs_of(job).size() == 1);
  }
  SUBCASE("one that lies behind an outage") {
    h.now.wall += 90s;
    h.now.mono += 90s;
    h.tick();
    h.advance(100ms);
    CHECK(h.runs_of(job).size() == 1);
  }
  CHECK(h.gaps_of(job).empty());
}

TEST_CASE("freeze: none begins, and nothing waits to be caught up, while an older master is registered") {
  Recovered from;
  from.late_rows_known = false;
  Harness h(std::move(from));
  freeze(h, 10s);
  CHECK(refused(h).find("older version") != std::string::npos);
  const JobId job = h.apply(a_job().every(1h).grace(1s).overlap(Overlap::Queue).late(LatePolicy::FireAll));
  h.now.wall += 150min;
  h.now.mono += 150min;
  h.tick();
  REQUIRE(h.runs_of(job).size() == 1);
  CHECK(h.state(h.runs_of(job)[0]) == model::RunState::Queued);
  CHECK(h.gaps_of(job).back().reason == Reason::CoalescedInto);
  h.handle(LateRowsKnown{});
  freeze(h, 10s);
  CHECK(taken(h) != nullptr);
}
