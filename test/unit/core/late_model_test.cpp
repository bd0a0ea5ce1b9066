// Random jobs, outages, freezes, takeovers and rates, against what the rules say in a few lines: each tick is a
// run or in one gap, frozen exactly by its moment, what a freeze kept starts once, and no pool starts more late
// runs than its rate.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::LatePolicy;
using model::Overlap;
using model::Reason;
using model::RunKind;

namespace {

struct LateJob {
  JobId id;
  Millis interval{};
  WallTime anchor{};
  LatePolicy late = LatePolicy::FireOnce;
};

struct LateWorld {
  explicit LateWorld(std::uint64_t seed) : dice(seed) {
    options.catch_up_rate = static_cast<std::int32_t>(pick(2, 40));
    options.fire_at_most = static_cast<std::int32_t>(pick(5, 400));
    h = std::make_unique<Harness>(Recovered{}, options);
    h->join(a_worker("w", 10'000));
    for (std::int64_t i = pick(2, 6); i > 0; --i) add_job(i);
  }

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(to - from + 1));
  }

  void add_job(std::int64_t number) {
    const Overlap overlaps[] = {Overlap::Skip, Overlap::Queue, Overlap::Allow};
    LateJob job;
    job.interval = Millis{pick(400, 15'000)};
    job.anchor = h->now.wall;
    const Overlap overlap = overlaps[pick(0, 2)];
    const std::int64_t late = pick(0, overlap == Overlap::Skip ? 1 : 2);
    job.late = late == 0 ? LatePolicy::FireOnce : late == 1 ? LatePolicy::Skip : LatePolicy::FireAll;
    job.id = h->apply(a_job("j" + std::to_string(number)).every(job.interval).overlap(overlap).late(job.late)
                          .grace(Millis{pick(0, 8000)}).queue_limit(1000));
    jobs.push_back(job);
    if (overlap == Overlap::Queue) queueing.insert(job.id);
  }

  /// All that was sent ends at once; late starts are counted by the second.
  void finish() {
    for (const DispatchItem& item : h->pop_dispatches()) {
      const model::Run& run = h->run(item.attempt.run);
      const bool is_late = run.kind == RunKind::AfterFreeze || run.recorded - run.scheduled > 2s;
      if (is_late && recorded_late.contains(run.id)) ++starts[h->now.mono];
      // A live run is sent in the turn that records it: no late one is before it.
      if (!is_late && !queueing.contains(run.job)) CHECK(run.progress.dispatched == run.recorded);
      h->report(run.id, model::RunState::Succeeded);
    }
    for (const auto& [id, run] : h->runs) {
      if (run.progress.reason == Reason::CaughtUp) recorded_late.insert(id);
    }
  }

  void sleep(Millis by) {
    h->now.wall += by;
    h->now.mono += by;
  }

  void live(Millis by) {
    const WallTime end = h->now.wall + by;
    while (h->now.wall < end) {
      const Millis step = std::clamp(h->scheduler->next_wake(h->now).value_or(100ms), 0ms, 100ms);
      sleep(step);
      h->tick();
      for (int i = 0; i < 3; ++i) finish();
    }
  }

  void take_over() {
    for (int i = 0; i < 3; ++i) finish();
    keep();
    const Now now = h->now;
    auto versions = h->versions;
    h = std::make_unique<Harness>(h->recovered(), options, Epoch{++epoch});
    h->versions = std::move(versions);
    h->now = now;
    h->join(a_worker("w", 10'000));
    starts.clear();
  }

  void keep() {
    for (const auto& [id, run] : h->runs) runs[id] = run;
    gaps.insert(gaps.end(), h->gaps.begin(), h->gaps.end());
    h->gaps.clear();
  }

  void freeze() {
    h->handle(BeginFreeze{Token{900}, "x", "", h->now.wall + Millis{pick(500, 20'000)}, ""});
    if (const auto* taken = std::get_if<FreezeTaken>(&h->last.replies.back().body)) freezes[taken->freeze.id] = taken->freeze;
  }

  void end_freeze() {
    h->handle(EndFreeze{Token{901}, "x", ""});
    if (const auto* taken = std::get_if<FreezeTaken>(&h->last.replies.back().body)) freezes[taken->freeze.id] = taken->freeze;
  }

  void act() {
    switch (pick(0, 6)) {
      case 0: sleep(Millis{pick(1000, 60'000)}); return h->tick();
      case 1: take_over(); return;
      case 2: sleep(Millis{pick(1000, 30'000)}); return take_over();
      case 3: return freeze();
      case 4: return end_freeze();
      default: return live(Millis{pick(100, 20'000)});
    }
  }

  const model::Freeze* freeze_of(WallTime tick) const {
    for (const auto& [id, freeze] : freezes) {
      if (freeze.covers(tick)) return &freeze;
    }
    return nullptr;
  }

  void judge_job(const LateJob& job, WallTime through) {
    std::map<WallTime, int> seen;
    std::map<std::int64_t, std::int64_t> frozen, made_up;
    for (const auto& [id, run] : runs) {
      if (run.job != job.id) continue;
      CHECK(model::is_final(run.progress.state));
      CHECK(run.progress.attempt == 1);
      if (run.tick) ++seen[*run.tick];
      if (run.tick) CHECK(freeze_of(*run.tick) == nullptr);
      if (run.kind != RunKind::AfterFreeze) continue;
      REQUIRE(freeze_of(run.scheduled) != nullptr);
      ++made_up[freeze_of(run.scheduled)->id];
    }
    for (const model::Gap& gap : gaps) {
      if (gap.job != job.id) continue;
      std::int64_t covered = 0;
      for (WallTime tick = gap.from; tick <= gap.to; tick += job.interval) {
        ++seen[tick];
        ++covered;
        CHECK((gap.reason == Reason::Frozen) == (freeze_of(tick) != nullptr));
        if (gap.reason == Reason::Frozen) CHECK(freeze_of(tick)->id == gap.reference);
        if (gap.reason == Reason::Frozen) ++frozen[gap.reference];
      }
      CHECK_MESSAGE(covered == gap.count, name_of(gap.reason), " ", gap.reference, " from ", to_ms(gap.from),
                    " to ", to_ms(gap.to), " every ", job.interval.count(), " epoch ", gap.epoch.value);
    }
    for (WallTime tick = job.anchor + job.interval; tick <= through; tick += job.interval) {
      REQUIRE(seen[tick] == 1);
      seen.erase(tick);
    }
    CHECK(seen.empty());
    for (const auto& [id, count] : frozen) {
      const std::int64_t wanted = job.late == LatePolicy::Skip ? 0 : job.late == LatePolicy::FireOnce ? 1 : count;
      CHECK(made_up[id] == wanted);
    }
  }

  void judge() {
    end_freeze();
    live(2s);
    while (h->scheduler->snapshot(h->now).active_runs > 0) live(1s);
    keep();
    for (const LateJob& job : jobs) judge_job(job, h->watermark->through);
    for (auto at = starts.begin(); at != starts.end(); ++at) {
      std::int64_t within = 0;
      for (auto next = at; next != starts.end() && next->first < at->first + 1s; ++next) within += next->second;
      CHECK(within <= options.catch_up_rate + 2);
    }
  }

  std::mt19937_64 dice;
  CoreOptions options;
  std::int64_t epoch = 7;
  std::unique_ptr<Harness> h;
  std::vector<LateJob> jobs;
  std::map<std::int64_t, model::Freeze> freezes;
  std::map<RunId, model::Run> runs;
  std::vector<model::Gap> gaps;
  std::map<MonoTime, std::int64_t> starts;
  std::set<RunId> recorded_late;
  std::set<JobId> queueing;            ///< their runs wait for each other
};

}  // namespace

TEST_CASE("late: a model of outages, freezes, takeovers and rates agrees") {
  const char* from = std::getenv("ROTA_LATE_SEED");
  const std::uint64_t first = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + 60; ++seed) {
    INFO("ROTA_LATE_SEED=", seed);
    LateWorld world(seed);
    for (int i = 0; i < 25; ++i) world.act();
    world.judge();
  }
}
