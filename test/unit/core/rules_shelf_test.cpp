// Which jobs share a compiled schedule: those with equal rules and the same ticks, whatever their names are.
#include "master/core/tables/rules_shelf.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "master/core/time/cron_hash.h"

using namespace rota;
using namespace rota::master::core;

namespace {

constexpr WallTime kAnchor{Millis{1'700'000'000'000}};

RulesPtr rules_of(std::vector<std::string> entries) {
  auto rules = std::make_shared<KeptRules>();
  rules->schedule.kind = model::ScheduleKind::Entries;
  rules->schedule.entries = std::move(entries);
  return rules;
}

model::Zones utc() {
  static const auto kUtc = [] {
    auto zone = std::make_shared<model::ZoneRules>();
    zone->name = "UTC";
    return zone;
  }();
  model::Zones zones;
  zones.others = {kUtc};
  return zones;
}

Plan plan_of(RulesShelf& shelf, const std::vector<std::string>& entries, const std::string& name,
             WallTime anchor = kAnchor) {
  auto plan = shelf.plan(shelf.share(rules_of(entries)), utc(), anchor, job_hash("default", name));
  REQUIRE(plan);
  return *plan;
}

}  // namespace

TEST_CASE("rules shelf: jobs whose H gives the same time share one schedule") {
  RulesShelf shelf;
  std::vector<Plan> plans;
  std::set<const CompiledSchedule*> schedules;
  std::set<std::pair<WallTime, const CompiledSchedule*>> ticks;
  for (int i = 0; i < 20'000; ++i) {
    plans.push_back(plan_of(shelf, {"cron H H * * *"}, fmt::format("job-{}", i)));
    const SchedulePtr& schedule = plans.back().schedule;
    schedules.insert(schedule.get());
    const auto tick = schedule->next_after(kAnchor);
    REQUIRE(tick);
    ticks.insert({*tick, schedule.get()});
    // Held against one that was compiled for this job alone.
    const std::uint64_t hash = job_hash("default", fmt::format("job-{}", i));
    const auto alone = compile(plans.back().rules->schedule, utc(), kAnchor, hash);
    REQUIRE(alone);
    REQUIRE(alone->next_after(kAnchor) == tick);
  }
  CHECK(schedules.size() <= 24 * 60);
  CHECK(schedules.size() > 24 * 50);
  CHECK(ticks.size() == schedules.size());
}

TEST_CASE("rules shelf: jobs of one rate share a schedule where they have one anchor") {
  RulesShelf shelf;
  const Plan one = plan_of(shelf, {"every 6h"}, "one"), same = plan_of(shelf, {"every 6h"}, "same");
  const Plan later = plan_of(shelf, {"every 6h"}, "later", kAnchor + Millis{1});
  CHECK(one.schedule == same.schedule);
  CHECK(one.schedule != later.schedule);
  CHECK(*later.schedule->next_after(kAnchor + Millis{1}) == *one.schedule->next_after(kAnchor) + Millis{1});
}

TEST_CASE("rules shelf: jitter is each job's own, on a schedule that they share") {
  RulesShelf shelf;
  const std::vector<std::string> entries = {"cron 0 12 * * *; jitter 10m"};
  const Plan one = plan_of(shelf, entries, "one"), other = plan_of(shelf, entries, "other");
  REQUIRE(one.schedule == other.schedule);
  const WallTime tick = *one.schedule->next_after(kAnchor);
  const CompiledEntries& shared = *one.schedule->entries();
  CHECK(shared.jitter_at(tick, job_hash("default", "one")) != shared.jitter_at(tick, job_hash("default", "other")));
}

TEST_CASE("rules shelf: a schedule that no job has any more is compiled anew") {
  RulesShelf shelf;
  const Plan kept = plan_of(shelf, {"cron H H * * *"}, "kept");
  WallTime tick{};
  for (int i = 0; i < 100; ++i) {
    const Plan plan = plan_of(shelf, {"cron H H * * *"}, fmt::format("job-{}", i % 3));
    const auto next = plan.schedule->next_after(kAnchor);
    if (i % 3 == 0) CHECK((tick == WallTime{} || tick == *next));
    if (i % 3 == 0) tick = *next;
  }
  CHECK(shelf.size() == 1);
}
