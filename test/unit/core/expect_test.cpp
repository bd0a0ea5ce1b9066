// What is told when a job's expectation is not met: when, once, and by whom after a takeover; and that a
// worker is dead.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/expectations.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Happening;
using model::RunState;
using model::ToldOnce;

namespace {

using Lines = std::vector<std::string>;

CoreOptions telling() {
  CoreOptions options;
  options.receivers = {{"ops", {Happening::Late, Happening::WorkerDead}, true}};
  return options;
}

/// What was told, without the mark of the Term: "start_within running".
Lines told(const Harness& term) {
  Lines out;
  for (const auto& row : term.late) {
    if (row.what == ToldOnce::Term) continue;
    out.push_back(std::string(name_of(row.what)) + " " + (row.worker.empty() ? row.was : row.worker));
  }
  return out;
}

Harness after(const Harness& term) {
  Harness next(term.recovered(), telling(), Epoch{term.epoch.value + 1}, term.now);
  next.versions = term.versions;
  next.lives = term.lives;
  next.paces = term.paces;
  next.late_before = term.late_before;
  next.late_before.insert(next.late_before.end(), term.late.begin(), term.late.end());
  return next;
}

}  // namespace

TEST_CASE("expect: a run that does not start in time is told once, at its moment") {
  Harness term({}, telling());
  term.listed();
  term.apply(a_job().expect_start(5s));
  const RunId run = term.run_now("j");
  term.advance(4999ms);
  CHECK(told(term).empty());
  term.advance(1ms);
  CHECK(told(term) == Lines{"start_within queued"});
  CHECK(term.late.back().run == run);
  REQUIRE(term.notifications.size() == 1);
  CHECK(term.notifications.begin()->second.text.find("did not start within 5s") != std::string::npos);
  term.cancel(run);
  term.advance(10s);
  CHECK(told(term).size() == 1);
  CHECK(term.notifications.size() == 1);
}

TEST_CASE("expect: what is met is not told") {
  Harness term({}, telling());
  term.join(a_worker("w1"));
  term.apply(a_job().expect_start(5s).expect_longer("1m"));
  const RunId run = term.run_now("j");
  term.advance(30s);
  term.report(run, RunState::Succeeded);
  term.advance(120s);
  CHECK(told(term).empty());
}

TEST_CASE("expect: what cannot be met any more is told with the end of the run") {
  Harness term({}, telling());
  term.apply(a_job().expect_start(60s));
  term.cancel(term.run_now("j"));
  CHECK(told(term) == Lines{"start_within cancelled"});
}

TEST_CASE("expect: a tick's run succeeds by the next such local time, or that is told a little later") {
  Harness term({}, telling());  // it is 22:13:20
  term.join(a_worker("w1"));
  term.apply(a_job().every(10s).overlap(model::Overlap::Skip).expect_finish("22:14"));
  term.advance(10s);
  REQUIRE(term.runs.size() == 1);
  const RunId run = term.runs.begin()->first;
  term.pause("j");
  term.advance(30s + kEndAwaited - 1ms);
  const auto of_run = [&] {
    std::size_t count = 0;
    for (const auto& row : term.late) count += row.run == run ? 1 : 0;
    return count;
  };
  CHECK(of_run() == 0);
  term.advance(1ms);
  CHECK(of_run() == 1);
}

TEST_CASE("expect: a run that takes longer than a duration, or than is usual, is told") {
  Harness term({}, telling());
  term.join(a_worker("w1"));
  term.apply(a_job("fixed").expect_longer("20s"));
  term.apply(a_job("usual").expect_longer("3x"));
  const RunId fixed = term.run_now("fixed");
  term.advance(20s + kEndAwaited);
  CHECK(told(term) == Lines{"longer_than dispatched"});
  term.report(fixed, RunState::Succeeded);
  for (int i = 0; i < 3; ++i) {
    const RunId run = term.run_now("usual");
    term.advance(2s);
    term.report(run, RunState::Succeeded);
  }
  REQUIRE(term.paces.size() == 1);
  CHECK(term.paces.begin()->second.successes == 3);
  Harness next = after(term);
  next.join(a_worker("w1"));
  const RunId run = next.run_now("usual");
  next.advance(5s);
  CHECK(told(next).empty());
  next.advance(20s);
  CHECK(told(next) == Lines{"longer_than dispatched"});
  CHECK(next.late.back().run == run);
}

TEST_CASE("expect: too few successes make no usual length") {
  CHECK(!usual_length({1s, 2s}).has_value());
  CHECK(usual_length({3s, 1s, 2s}) == Millis{2000});
  CHECK(usual_length({4s, 1s, 2s, 3s}) == Millis{2500});
  CHECK(length_limit("1.5x", {2s, 2s, 2s}) == Millis{3000});
  CHECK(length_limit("30m", {}) == Millis{1'800'000});
}

TEST_CASE("expect: the next local time after a tick, also where clocks are changed") {
  model::ZoneRules zone;
  zone.name = "Test/Zone";
  constexpr std::int64_t kDay = 86'400;
  zone.changes = {{INT64_MIN, 3600}, {10 * kDay + 3600, 7200}};  // at 02:00 local time, to 03:00
  const auto at = [](std::int64_t s) { return wall_from_ms(s * 1000); };
  CHECK(finish_by_of("07:30", zone, at(5 * kDay)) == at(5 * kDay + 6 * 3600 + 1800));
  CHECK(finish_by_of("07:30", zone, at(5 * kDay + 6 * 3600 + 1800)) == at(6 * kDay + 6 * 3600 + 1800));
  CHECK(finish_by_of("02:30", zone, at(10 * kDay)) == at(10 * kDay + 3600));
  CHECK(finish_by_of("07:30", zone, at(10 * kDay)) == at(10 * kDay + 5 * 3600 + 1800));
  CHECK(!finish_by_of("25:00", zone, at(0)).has_value());
}

TEST_CASE("expect: a tick that does not fire is told with its gap") {
  Harness term({}, telling());
  term.join(a_worker("w1"));
  term.apply(a_job().every(10s).expect_start(5s).expect_finish("07:30"));
  term.advance(20s);
  REQUIRE(term.gaps.size() == 1);
  CHECK(told(term) == Lines{"start_within overlap_skipped", "finish_by overlap_skipped"});
  CHECK(term.late.back().tick == term.gaps.front().from);
  CHECK(term.late.back().run == RunId{});
}

TEST_CASE("expect: the first tick that a pause keeps from firing is told, once, through takeovers") {
  Harness term({}, telling());
  term.apply(a_job().every(10s).expect_start(5s));
  term.pause("j");
  term.advance(9s);
  CHECK(told(term).empty());
  Harness next = after(term);
  next.advance(50s);
  CHECK(told(next) == Lines{"start_within paused"});
  Harness third = after(next);
  third.advance(60s);
  CHECK(told(third) == Lines{});
}

TEST_CASE("expect: a job that is done expects nothing of its pause") {
  Harness term({}, telling());
  term.join(a_worker("w1"));
  term.apply(a_job().every(10s).firings(1).expect_start(5s));
  term.advance(60s);
  CHECK(told(term).empty());
}

TEST_CASE("expect: a new leader goes on with what is open, and repeats nothing") {
  Harness term({}, telling());
  term.listed();
  term.apply(a_job("told").expect_start(5s));
  term.apply(a_job("open").expect_start(20s));
  term.run_now("told");
  const RunId open = term.run_now("open");
  term.advance(6s);
  REQUIRE(told(term).size() == 1);
  term.now.wall += 60s;  // nobody led for a while
  term.now.mono += 60s;
  Harness next = after(term);
  next.tick();
  REQUIRE(told(next) == Lines{"start_within queued"});
  CHECK(next.late.front().run == open);
}

TEST_CASE("expect: nothing is judged by a clock that is in doubt") {
  Harness term({}, telling());
  term.listed();
  term.apply(a_job().expect_start(5s));
  term.run_now("j");
  term.handle(HoldTicks{"the clock is wrong"});
  term.advance(20s);
  CHECK(told(term).empty());
  term.handle(HoldTicks{""});
  term.tick();
  CHECK(told(term) == Lines{"start_within queued"});
}

TEST_CASE("expect: a Term says that it tells, once, and only where something is expected") {
  Harness term({}, telling());
  term.apply(a_job("plain"));
  CHECK(term.late.empty());
  term.apply(a_job("expecting").expect_start(5s));
  term.apply(a_job("another").expect_start(5s));
  REQUIRE(term.late.size() == 1);
  CHECK(term.late.front().what == ToldOnce::Term);
  CHECK(term.late.front().epoch == Epoch{7});
}

TEST_CASE("worker_dead: a worker that stays away is told once, also by a later leader") {
  Harness term({}, telling());
  const auto worker = term.join(a_worker("w1"));
  term.leave(worker);
  const Millis dead_after = term.options.dead_after;
  term.advance(dead_after - 1s);
  CHECK(told(term).empty());
  Harness next = after(term);
  next.advance(10s);
  CHECK(told(next).empty());  // it may be here: nobody has listed the workers
  next.listed();
  next.tick();
  CHECK(told(next) == Lines{"worker_dead w1"});
  CHECK(next.notifications.size() == 1);
  next.advance(10s);
  CHECK(told(next).size() == 1);
  Harness third = after(next);
  third.listed();
  third.advance(10s);
  CHECK(told(third).empty());
}

TEST_CASE("worker_dead: a worker that drops out of the lists before it is dead is told all the same") {
  Harness term({}, telling());
  REQUIRE(term.set_setting("workers.keep_dead_ms", 1000));
  const auto worker = term.join(a_worker("w1"));
  term.leave(worker);
  term.advance(term.options.dead_after + 2s);
  CHECK(told(term) == Lines{"worker_dead w1"});
}

TEST_CASE("worker_dead: one that comes back, or that was stopped, is not told") {
  Harness term({}, telling());
  const auto worker = term.join(a_worker("w1"));
  term.leave(worker);
  term.advance(60s);
  term.join(a_worker("w1", 4, "i2"));
  term.advance(term.options.dead_after);
  CHECK(told(term).empty());
}
