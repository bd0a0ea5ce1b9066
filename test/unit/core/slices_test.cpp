// More ticks due in one moment than one batch may hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "harness.h"
#include "state_surgery.h"
#include "master/core/time/schedule.h"

using namespace rota;
using namespace rota::test;
using namespace master::core;
using model::Reason;

namespace {

CoreOptions at_most(std::int32_t ticks) {
  CoreOptions options;
  options.fire_at_most = ticks;
  return options;
}

JobBuilder minutely(const std::string& name) { return a_job(name).every(60s).overlap(model::Overlap::Allow); }

/// So many jobs that are due in the same millisecond, a minute from now.
std::vector<JobId> apply_crowd(Harness& h, int count, const std::string& name = "crowd") {
  std::vector<JobId> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(h.apply(minutely(name + std::to_string(i))));
  return jobs;
}

void pass(Harness& h, Millis by) {
  h.now.wall += by;
  h.now.mono += by;
}

std::int64_t ticks_in(const Effects& effects) {
  return static_cast<std::int64_t>(effects.changes.new_runs.size() + effects.changes.gaps.size());
}

bool is_under_way(const Harness& h) { return h.watermark && h.watermark->is_parted(); }

void finish_slice(Harness& h) {
  do h.tick(); while (h.scheduler->next_wake(h.now) == Millis{0});
}

std::vector<WallTime> planned(const Harness& h, const model::JobVersionRow& version, WallTime recorded) {
  auto definition = version.definition;
  for (JobVersion v = version.version; !definition; --v) definition = h.versions.at({version.job, v}).definition;
  std::vector<WallTime> ticks;
  if (!version.enabled) return ticks;
  const auto schedule = compile(definition->rules.schedule, std::make_shared<const model::ZoneRules>(),
                                version.anchor);
  const WallTime end = version.valid_to.value_or(recorded);
  for (auto at = schedule->next_after(version.valid_from); at && *at <= end; at = schedule->next_after(*at)) {
    ticks.push_back(*at);
  }
  return ticks;
}

/// How often each tick is there that must be, by what is stored alone; every value must be 1.
std::map<std::pair<JobId, WallTime>, int> account(const Harness& h) {
  std::map<std::pair<JobId, WallTime>, int> times;
  std::map<std::pair<JobId, WallTime>, JobVersion> of;
  for (const auto& [key, version] : h.versions) {
    const model::Job& job = h.jobs.at(key.first);
    if (job.one_off) continue;
    const WallTime recorded = std::max(h.watermark->of(job.id), job.ticks_through.value_or(WallTime{}));
    for (const WallTime tick : planned(h, version, recorded)) {
      times[{job.id, tick}] = 0;
      of[{job.id, tick}] = version.version;
    }
  }
  for (const auto& [id, run] : h.runs) {
    if (run.tick) times[{run.job, *run.tick}] += 1;
  }
  for (const model::Gap& gap : h.gaps) {
    for (auto& [tick, count] : times) {
      const bool covers = tick.first == gap.job && gap.from <= tick.second && tick.second <= gap.to;
      if (covers && of[tick] == gap.version) ++count;
    }
  }
  return times;
}

void check_each_once(const Harness& h) {
  for (const auto& each : account(h)) {
    INFO("job ", each.first.first.value, " tick ", to_ms(each.first.second));
    CHECK(each.second == 1);
  }
}

}  // namespace

TEST_CASE("slices: a huge moment is taken in parts, each tick once") {
  Harness h({}, at_most(50));
  apply_crowd(h, 300);
  pass(h, 60s);
  int parts = 0;
  do {
    h.tick();
    CHECK(ticks_in(h.last) <= 51);
    check_each_once(h);
    ++parts;
  } while (h.scheduler->next_wake(h.now) == Millis{0});
  CHECK(parts >= 6);
  CHECK(h.watermark == Watermark(h.now.wall));
  CHECK(h.runs.size() == 300);
}

TEST_CASE("slices: other work is done between two parts") {
  Harness h({}, at_most(50));
  const JobId before = h.apply(a_job("before").every(1s).overlap(model::Overlap::Allow));
  apply_crowd(h, 300);
  const JobId after = h.apply(a_job("after").every(1s).overlap(model::Overlap::Allow));
  const JobId each_second = h.apply(a_job("each").cron("* * * * * *").overlap(model::Overlap::Allow));
  h.advance(59s);
  pass(h, 1s);
  std::size_t due = 60;
  while (true) {
    h.tick();
    if (!is_under_way(h)) break;
    CHECK(h.runs_of(before).size() == due);
    CHECK(h.runs_of(after).size() == due);
    CHECK(h.runs_of(each_second).size() == due);
    check_each_once(h);
    const RunId run = h.submit();
    CHECK(h.runs.contains(run));
    pass(h, 1s);
    ++due;
  }
  CHECK(due > 64);
  check_each_once(h);
}

TEST_CASE("slices: jobs are changed while one is under way, on both sides of it") {
  Harness h({}, at_most(50));
  const auto jobs = apply_crowd(h, 300);
  pass(h, 60s);
  h.tick();
  REQUIRE(is_under_way(h));
  REQUIRE(h.watermark->job >= jobs[20]);
  REQUIRE(h.watermark->job < jobs[200]);
  pass(h, 500ms);
  for (const int i : {10, 210}) {
    const std::string name = "crowd" + std::to_string(i);
    SUBCASE("edited") { h.apply(a_job(name).every(70s).overlap(model::Overlap::Allow)); }
    SUBCASE("paused") { h.pause(name); }
    SUBCASE("paused and resumed") { h.pause(name); pass(h, 10ms); h.pause(name, false); }
    SUBCASE("deleted") { h.remove(name); }
    SUBCASE("made anew") { h.remove(name); h.apply(minutely(name)); }
    check_each_once(h);
  }
  h.apply(minutely("new"));
  finish_slice(h);
  check_each_once(h);
  h.advance(80s);
  check_each_once(h);
  CHECK(h.runs_of(jobs[100]).size() == 2);
}

TEST_CASE("slices: a takeover goes on where the last batch was stored") {
  Harness before({}, at_most(50));
  apply_crowd(before, 300);
  const JobId often = before.apply(a_job("often").every(1s).overlap(model::Overlap::Allow));
  before.advance(59s);
  pass(before, 1s);
  for (int i = 0; i < 3; ++i) {
    before.tick();
    pass(before, 1s);
  }
  REQUIRE(is_under_way(before));
  Harness after(before.recovered(), at_most(50), Epoch{8});
  after.versions = before.versions;
  after.gaps = before.gaps;
  after.now = before.now;
  SUBCASE("at once") {}
  SUBCASE("by a clock that is behind") { after.now.wall -= 30s; }
  after.tick();
  check_each_once(after);
  finish_slice(after);
  check_each_once(after);
  after.advance(40s);
  check_each_once(after);
  CHECK(after.runs_of(often).size() > 60);
}

TEST_CASE("slices: a takeover by a slower clock goes on from the end of the slice") {
  Harness before({}, at_most(50));
  apply_crowd(before, 300);
  before.advance(59s);
  pass(before, 1s);
  before.tick();
  REQUIRE(is_under_way(before));
  const Harness after(before.recovered(), at_most(50), Epoch{8});  // its clock stands where the first one's began
  const State& state = StateSurgery::state_of(*after.scheduler);
  REQUIRE(state.ticks().watermark().reaching > state.ticks().watermark().through);
  CHECK(state.core_time() >= state.ticks().watermark().reaching);
}

TEST_CASE("slices: a backlog that is late for all is taken job after job, two rows at most of each") {
  Harness h({}, at_most(50));
  const auto jobs = apply_crowd(h, 300);
  pass(h, 10h);
  finish_slice(h);
  check_each_once(h);
  for (const JobId job : jobs) {
    CHECK(h.gaps_of(job).size() == 1);
    CHECK(h.runs_of(job).size() <= 3);
  }
}

TEST_CASE("slices: held ticks wait in the midst of one") {
  Harness h({}, at_most(50));
  apply_crowd(h, 300);
  pass(h, 60s);
  h.tick();
  REQUIRE(is_under_way(h));
  const auto runs = h.runs.size();
  h.handle(HoldTicks{"the clock differs"});
  h.advance(70s);
  CHECK(h.runs.size() == runs);
  h.handle(HoldTicks{});
  finish_slice(h);
  check_each_once(h);
  CHECK(h.runs.size() == 600);
}

TEST_CASE("slices: none is begun while an older master is registered, one under way goes on") {
  Harness h({}, at_most(50));
  apply_crowd(h, 300);
  pass(h, 60s);
  SUBCASE("told before") {
    h.handle(MastersSeen{false});
    h.tick();
    CHECK(h.runs.size() == 300);
    CHECK(h.watermark == Watermark(h.now.wall));
  }
  SUBCASE("told meanwhile") {
    h.tick();
    REQUIRE(is_under_way(h));
    h.handle(MastersSeen{false});
    h.tick();
    CHECK(is_under_way(h));
    finish_slice(h);
    CHECK(h.runs.size() == 300);
  }
  check_each_once(h);
}

TEST_CASE("slices: the turn's own bound goes before the option's") {
  Harness h({}, at_most(1000));
  apply_crowd(h, 300);
  pass(h, 60s);
  h.handle(TimePassed{20});
  CHECK(h.runs.size() == 20);
}
