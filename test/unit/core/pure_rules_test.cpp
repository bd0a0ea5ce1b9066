#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "builders.h"
#include "master/core/attempts/loss_rules.h"
#include "master/core/admission/overlap.h"
#include "master/core/attempts/retry.h"
#include "master/core/admission/route.h"
#include "master/core/attempts/run_rules.h"
#include "master/core/time/time_rules.h"
#include "master/core/time/timer_index.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::RunState;

TEST_CASE("run rules: nothing follows an end, and everything else may be cancelled") {
  for (int from = 0; from <= static_cast<int>(RunState::Skipped); ++from) {
    const auto state = static_cast<RunState>(from);
    CHECK(may_follow(state, RunState::Cancelled) == !model::is_final(state));
    const bool may_wait = state == RunState::Waiting || state == RunState::Queued;
    CHECK(may_follow(state, RunState::Skipped) == may_wait);
    if (!model::is_final(state)) continue;
    for (int to = 0; to <= static_cast<int>(RunState::Skipped); ++to) {
      CHECK(!may_follow(state, static_cast<RunState>(to)));
    }
  }
  CHECK(may_follow(RunState::Queued, RunState::Dispatched));
  CHECK(!may_follow(RunState::Waiting, RunState::Dispatched));
  CHECK(!may_follow(RunState::Queued, RunState::Running));
  CHECK(!may_follow(RunState::Waiting, RunState::Failed));
  CHECK(may_follow(RunState::Running, RunState::Waiting));
}

TEST_CASE("retry: delays grow by the factor up to the maximum") {
  model::RetryRule rule;
  rule.count = 4;
  rule.delay = 1s;
  rule.factor = 3;
  rule.max_delay = 10s;
  CHECK(retry_delay(rule, 1) == 1s);
  CHECK(retry_delay(rule, 2) == 3s);
  CHECK(retry_delay(rule, 3) == 9s);
  CHECK(retry_delay(rule, 4) == 10s);
  CHECK(!retry_delay(rule, 5));
  rule.count = 2'000'000'000;
  CHECK(retry_delay(rule, 1'000'000'000) == 10s);
  CHECK(!retry_delay({}, 1));
}

TEST_CASE("loss: what follows a loss is slowed down after the third") {
  CHECK(loss_delay(3) == 0ms);
  CHECK(loss_delay(4) == 1s);
  CHECK(loss_delay(6) == 4s);
  CHECK(loss_delay(1000) == 60s);
}

TEST_CASE("overlap: skip, queue and allow") {
  model::JobRules rules;
  using Kind = OverlapChoice::Kind;
  CHECK(decide_overlap(rules, {0, 0, 0}).kind == Kind::Fire);
  CHECK(decide_overlap(rules, {1, 0, 0}).kind == Kind::Skip);
  rules.overlap = model::Overlap::Allow;
  CHECK(decide_overlap(rules, {100, 0, 0}).kind == Kind::Fire);
  rules.overlap = model::Overlap::Queue;
  rules.queue_limit = 2;
  CHECK(decide_overlap(rules, {1, 1, 0}).kind == Kind::Wait);
  CHECK(decide_overlap(rules, {1, 2, 0}).reason == model::Reason::QueueFull);
}

TEST_CASE("overlap: the policy acts only once as many runs are under way as concurrency says") {
  model::JobRules rules;
  using Kind = OverlapChoice::Kind;
  rules.concurrency = 3;
  for (const model::Overlap overlap : {model::Overlap::Skip, model::Overlap::Queue, model::Overlap::QueueOne,
                                       model::Overlap::Replace, model::Overlap::Terminate}) {
    rules.overlap = overlap;
    CHECK(decide_overlap(rules, {2, 0, 0}).kind == Kind::Fire);
    CHECK(decide_overlap(rules, {3, 0, 0}).kind != Kind::Fire);
  }
}

TEST_CASE("overlap: replace ends as many as the new run needs, and none twice") {
  model::JobRules rules;
  using Kind = OverlapChoice::Kind;
  for (const model::Overlap overlap : {model::Overlap::Replace, model::Overlap::Terminate}) {
    rules.overlap = overlap;
    rules.concurrency = 2;
    CHECK(decide_overlap(rules, {2, 0, 0}).kind == Kind::Replace);
    CHECK(decide_overlap(rules, {2, 0, 0}).ends == 1);
    CHECK(decide_overlap(rules, {2, 1, 1}).ends == 0);
    CHECK(decide_overlap(rules, {2, 0, 2}).ends == 0);
    CHECK(decide_overlap(rules, {5, 0, 1}).ends == 3);  // an edit has lowered it
  }
  rules.overlap = model::Overlap::QueueOne;
  CHECK(decide_overlap(rules, {2, 1, 0}).kind == Kind::Replace);
  CHECK(decide_overlap(rules, {2, 1, 0}).ends == 0);
}

TEST_CASE("route: equals take turns under least loaded") {
  const model::WorkerKey a{"a", "1"}, b{"b", "1"};
  OpenWorkers both;
  both.insert(a, {0, 4, 9});
  both.insert(b, {0, 4, 3});
  const auto choose = [](model::RouteKind route, const char* named, const char* last, const OpenWorkers& open) {
    return choose_worker({route, named, last, 0, 0}, open);
  };
  CHECK(*choose(model::RouteKind::LeastLoaded, "", "", both) == b);
  CHECK(*choose(model::RouteKind::RoundRobin, "", "b", both) == a);
  CHECK(*choose(model::RouteKind::RoundRobin, "", "a", both) == b);
  CHECK(*choose(model::RouteKind::Named, "b", "", both) == b);
  CHECK(choose(model::RouteKind::Named, "c", "", both) == nullptr);
  CHECK(choose(model::RouteKind::LeastLoaded, "", "", {}) == nullptr);
}

TEST_CASE("route: the orders of open workers agree with a plain search, whatever changes") {
  std::map<model::WorkerKey, WorkerLoad> plain;
  OpenWorkers open;
  std::uint64_t seed = 20261122;
  const auto roll = [&seed](std::uint64_t sides) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((seed >> 33) % sides);
  };
  for (int step = 0; step < 20'000; ++step) {
    const model::WorkerKey key{"w" + std::to_string(roll(30)), "1"};
    const auto found = plain.find(key);
    if (found != plain.end() && roll(2) == 0) {
      const WorkerLoad load{roll(4), 1 + roll(4), roll(5)};
      open.move(key, found->second = load);
    } else if (found != plain.end()) {
      open.erase(key);
      plain.erase(found);
    } else {
      const WorkerLoad load{roll(4), 1 + roll(4), roll(5)};
      open.insert(key, load);
      plain.emplace(key, load);
    }
    REQUIRE(open.is_whole());
    const auto best = std::ranges::min_element(
        plain, [](const auto& x, const auto& y) { return is_before(WorkerOrder::Load, x.second, y.second); });
    const std::string last = "w" + std::to_string(roll(30));
    auto next = std::ranges::find_if(plain, [&last](const auto& each) { return each.first.id > last; });
    if (next == plain.end()) next = plain.begin();
    const auto* chosen = open.first(WorkerOrder::Load);
    const auto* after = open.after_id(last);
    REQUIRE((chosen == nullptr) == plain.empty());
    if (plain.empty()) continue;
    REQUIRE(*chosen == best->first);
    REQUIRE(*after == next->first);
  }
}

TEST_CASE("newest tick: the last at or before a moment, for rates and crons") {
  const WallTime t0 = wall_from_ms(1'700'000'000'000);
  const auto zone = std::make_shared<const model::ZoneRules>();
  SUBCASE("fixed rate against a plain walk") {
    const auto schedule = *compile(a_job().every(777ms).build()->rules.schedule, zone, t0);
    const WallTime first = *schedule.next_after(t0);
    for (Millis span : {777ms, 778ms, 5000ms, 123'456ms, 86'400'123ms}) {
      const WallTime through = t0 + span;
      const WallTime newest = newest_tick(schedule, first, through);
      CHECK(newest <= through);
      CHECK(*schedule.next_after(newest) > through);
    }
  }
  SUBCASE("a rare cron") {
    const auto schedule = *compile(a_job().cron("0 0 1 1 *").build()->rules.schedule, zone, t0);
    const WallTime first = *schedule.next_after(t0);
    const WallTime through = t0 + std::chrono::days{3650};
    const WallTime newest = newest_tick(schedule, first, through);
    CHECK(newest > through - std::chrono::days{366});
    CHECK(*schedule.next_after(newest) > through);
    CHECK(newest_tick(schedule, first, first) == first);
  }
}

TEST_CASE("timers: one of a kind for each owner, in order of time") {
  TimerIndex<int, int> timers;
  const MonoTime t{10s};
  timers.set(1, 1, t + 2s);
  timers.set(1, 2, t + 1s);
  timers.set(2, 1, t + 3s);
  timers.set(2, 1, t + 500ms);
  CHECK(timers.first() == t + 500ms);
  CHECK(!timers.pop_due(t));
  CHECK(timers.pop_due(t + 10s) == std::pair{2, 1});
  timers.clear_all(1);
  CHECK(timers.empty());
}
