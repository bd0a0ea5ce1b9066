// Saved calendars: versions, from when on they count, who may delete them, and what a new Term knows of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;

namespace {

model::Calendar closed_on(std::vector<std::string> days) {
  model::Calendar out;
  out.name = "de";
  out.days = "mon-fri";
  out.exclude = std::move(days);
  return out;
}

const CalendarTable& calendars_of(Harness& h) { return StateSurgery::state_of(*h.scheduler).calendars(); }

std::vector<std::string> told(const Harness& h, std::string_view sentence) {
  std::vector<std::string> out;
  for (const Notice& notice : h.notices) {
    if (notice.sentence == sentence) out.push_back(notice.keys.front().second);
  }
  return out;
}

}  // namespace

TEST_CASE("calendars: a new one counts at once, an edit at least 10 s later") {
  Harness h;
  const auto created = h.apply_calendar(closed_on({"2026-12-25"}));
  REQUIRE(created);
  CHECK(created->version == 1);
  CHECK(created->created);
  CHECK(created->from == h.now.wall);
  h.advance(60s);
  const auto changed = h.apply_calendar(closed_on({"2026-12-25", "2026-12-26"}));
  REQUIRE(changed);
  CHECK(changed->version == 2);
  CHECK(!changed->created);
  CHECK(changed->from == h.now.wall + 10s);
  REQUIRE(h.calendars.size() == 2);
  CHECK(h.calendars[1].from == changed->from);
  CHECK(h.calendars[1].changed == h.now.wall);
  CHECK(h.calendars[1].principal == "tester");
  CHECK(told(h, "calendar changed") == std::vector<std::string>{"default/de"});
}

TEST_CASE("calendars: each version counts later than the one before it, also at one moment") {
  Harness h;
  std::vector<WallTime> from;
  for (const char* day : {"2026-01-01", "2026-01-02", "2026-01-03"}) {
    from.push_back(h.apply_calendar(closed_on({day}))->from);
  }
  CHECK(std::ranges::is_sorted(from, std::ranges::less_equal{}));
  CHECK(from[2] == from[1] + 1ms);
  CHECK(calendars_of(h).find("default", "de")->history().size() == 3);
}

TEST_CASE("calendars: the same again is no edit") {
  Harness h;
  const auto first = h.apply_calendar(closed_on({"2026-12-25"}));
  h.advance(60s);
  const auto again = h.apply_calendar(closed_on({"2026-12-25"}), 1);
  REQUIRE(again);
  CHECK(!again->changed);
  CHECK(again->version == 1);
  CHECK(again->from == first->from);
  CHECK(h.calendars.size() == 1);
}

TEST_CASE("calendars: an edit made from another version is refused with both") {
  Harness h;
  const auto missing = h.apply_calendar(closed_on({}), 3);
  REQUIRE(!missing);
  CHECK(missing.error().message == "calendar 'default/de' does not exist, the edit was made from version 3");
  REQUIRE(h.apply_calendar(closed_on({}), 0));
  REQUIRE(h.apply_calendar(closed_on({"2026-12-25"}), 1));
  const auto stale = h.apply_calendar(closed_on({"2026-12-26"}), 1);
  REQUIRE(!stale);
  CHECK(stale.error().code == ErrorCode::Conflict);
  CHECK(stale.error().message ==
        "calendar 'default/de' has version 2, the edit was made from version 1; read it again");
  const auto twice = h.apply_calendar(closed_on({}), 0);
  REQUIRE(!twice);
  CHECK(twice.error().message ==
        "calendar 'default/de' exists already, with version 2; a new one was expected");
  CHECK(h.calendars.size() == 2);
}

TEST_CASE("calendars: a deleted one is gone, and the numbers of its name go on") {
  Harness h;
  CHECK(h.delete_calendar("de").error().code == ErrorCode::NotFound);
  REQUIRE(h.apply_calendar(closed_on({})));
  const auto deleted = h.delete_calendar("de");
  REQUIRE(deleted);
  CHECK(deleted->version == 2);
  CHECK(h.calendars.back().deleted);
  CHECK(h.calendars.back().why == "not wanted");
  CHECK(calendars_of(h).find("default", "de") == nullptr);
  CHECK(calendars_of(h).size() == 0);
  const auto back = h.apply_calendar(closed_on({"2026-12-25"}), 0);
  REQUIRE(back);
  CHECK(back->version == 3);
  CHECK(back->created);
  CHECK(back->from == h.now.wall);
}

TEST_CASE("calendars: none is changed while ticks are held") {
  Harness h;
  REQUIRE(h.apply_calendar(closed_on({})));
  h.handle(HoldTicks{"the clock is wrong"});
  const auto edit = h.apply_calendar(closed_on({"2026-12-25"}));
  REQUIRE(!edit);
  CHECK(edit.error().message == "calendars cannot be changed while ticks are held: the clock is wrong");
  CHECK(h.delete_calendar("de").error().code == ErrorCode::Unavailable);
}

TEST_CASE("calendars: a new Term goes on with the versions and numbers that were stored") {
  Harness before;
  REQUIRE(before.apply_calendar(closed_on({})));
  before.advance(60s);
  const auto second = before.apply_calendar(closed_on({"2026-12-25"}));
  Harness after(before.recovered(), {}, Epoch{8});
  after.now = before.now;
  const CalendarEntry* entry = calendars_of(after).find("default", "de");
  REQUIRE(entry != nullptr);
  REQUIRE(entry->history().size() == 2);
  CHECK(entry->history().back().from == second->from);
  CHECK(after.apply_calendar(closed_on({}), 2)->version == 3);
}

TEST_CASE("calendars: an edit counts 10 s after the stored time when the leader's clock is behind") {
  Harness before;
  const auto first = before.apply_calendar(closed_on({}));
  before.advance(60s);
  REQUIRE(before.apply_calendar(closed_on({"2026-12-25"})));
  Recovered stored = before.recovered();
  stored.watermark.reset();  // or else ticks are held until the clock has reached it
  Harness after(std::move(stored), {}, Epoch{8});
  const auto edit = after.apply_calendar(closed_on({"2026-12-26"}));
  REQUIRE(edit);
  CHECK(edit->from > first->from + 70s);
}

TEST_CASE("calendars: one that soon covers no more days is told of once") {
  Harness h;
  model::Calendar calendar = closed_on({});
  calendar.covers = "2023-01-01..2024-02-28";  // the harness begins in November of 2023
  calendar.beyond = model::BeyondCover::Hold;
  REQUIRE(h.apply_calendar(calendar));
  h.apply(a_job().every(3600s));
  h.join(a_worker("w1", 4));
  h.tick();
  CHECK(told(h, "calendar covers no more days soon").empty());
  h.now.wall = wall_from_ms(1'703'980'800'000);  // 2023-12-31, 60 days before the end
  h.tick();
  h.tick();
  CHECK(told(h, "calendar covers no more days soon") == std::vector<std::string>{"default/de"});
  calendar.covers = "2023-01-01..2025-12-31";
  REQUIRE(h.apply_calendar(calendar));
  CHECK(calendars_of(h).ending(h.now.wall).empty());
}

namespace {

/// The harness begins on 14 November 2023 at 22:13:20 UTC, a Tuesday.
model::Calendar open_today(bool is_open) {
  model::Calendar out = closed_on({});
  if (!is_open) out.exclude = {"2023-11-14"};
  return out;
}

JobBuilder by_calendar(const std::string& line = "every 1s; calendars de") {
  return a_job().entries({line}).overlap(model::Overlap::Allow);
}

Error refused_job(Harness& h, const JobBuilder& job) {
  ApplyJob event;
  event.token = Token{99};
  event.principal = "tester";
  event.definition = job.build();
  event.zone = std::make_shared<const model::ZoneRules>();
  h.handle(event);
  REQUIRE(std::holds_alternative<Error>(h.last.replies.at(0).body));
  return std::get<Error>(h.last.replies.at(0).body);
}

}  // namespace

TEST_CASE("calendars: a job that names none that exists is refused") {
  Harness h;
  CHECK(refused_job(h, by_calendar()).message == "there is no calendar de");
}

TEST_CASE("calendars: an edit opens and closes days from its moment on, not sooner and not later") {
  Harness h;
  h.join(a_worker("w1", 100));
  REQUIRE(h.apply_calendar(open_today(false)));
  const JobId job = h.apply(by_calendar());
  h.advance(5s);
  CHECK(h.runs_of(job).empty());
  const WallTime opened = h.apply_calendar(open_today(true))->from;
  h.advance(10s);
  CHECK(h.runs_of(job).size() <= 1);
  h.advance(20s);
  const auto runs = h.runs_of(job);
  REQUIRE(runs.size() >= 20);
  CHECK(*h.run(runs.front()).tick >= opened);
  CHECK(*h.run(runs.front()).tick < opened + 1s);
  const WallTime closed = h.apply_calendar(open_today(false))->from;
  h.advance(30s);
  const WallTime last = *h.run(h.runs_of(job).back()).tick;
  CHECK(last < closed);
  CHECK(last >= closed - 1s);
  CHECK(h.gaps_of(job).empty());
}

TEST_CASE("calendars: jobs of an edited one are planned anew some at a time, and all before it counts") {
  Harness h;
  REQUIRE(h.apply_calendar(open_today(false)));
  std::vector<JobId> jobs;
  for (int i = 0; i < 1200; ++i) {
    jobs.push_back(h.apply(a_job("j" + std::to_string(i)).entries({"cron 0 0 23 14 11 ?; calendars de"})));
  }
  const auto planned = [&] {
    return std::ranges::count_if(jobs, [&](JobId id) {
      const auto next = StateSurgery::state_of(*h.scheduler).find_job(id)->next_tick();
      return next && *next < h.now.wall + std::chrono::hours{2};
    });
  };
  CHECK(planned() == 0);
  REQUIRE(h.apply_calendar(open_today(true)));
  CHECK(h.scheduler->next_wake(h.now) == Millis{0});
  h.tick();
  CHECK(planned() == 500);
  h.now.wall += 9s;  // nothing else happened for a while
  h.now.mono += 9s;
  h.tick();
  CHECK(planned() == 1200);
}

TEST_CASE("calendars: one that jobs use is not deleted, and the answer names some of them") {
  Harness h;
  REQUIRE(h.apply_calendar(open_today(true)));
  h.apply(a_job("a").entries({"every 1h; calendars de"}));
  auto refused = h.delete_calendar("de");
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::Conflict);
  CHECK(refused.error().message ==
        "calendar 'default/de' is used by 1 job: a; take it out of their schedules first");
  for (const char* name : {"b", "c", "d", "e", "f", "g"}) h.apply(a_job(name).entries({"every 1h; calendars de"}));
  refused = h.delete_calendar("de");
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "calendar 'default/de' is used by 7 jobs: a, b, c, d, e and 2 more; take it out of their schedules first");
  h.apply(a_job("a").entries({"every 1h"}));
  for (const char* name : {"b", "c", "d", "e", "f", "g"}) h.remove(name);
  CHECK(h.delete_calendar("de"));
}

TEST_CASE("calendars: a new Term plans its jobs by all versions, also by one that counts later") {
  Harness before;
  before.join(a_worker("w1", 100));
  REQUIRE(before.apply_calendar(open_today(false)));
  const JobId job = before.apply(by_calendar());
  before.advance(2s);
  const WallTime opened = before.apply_calendar(open_today(true))->from;
  Harness after(before.recovered(), {}, Epoch{8});
  after.now = before.now;
  const auto next = StateSurgery::state_of(*after.scheduler).find_job(job)->next_tick();
  REQUIRE(next);
  CHECK(*next >= opened);
  CHECK(*next < opened + 1s);
  CHECK(!after.delete_calendar("de"));
}

TEST_CASE("calendars: a new Term plans jobs of equal rules by the calendars of their own namespaces") {
  Harness before;
  REQUIRE(before.apply_calendar(open_today(true)));
  std::vector<JobId> jobs;
  for (const char* name : {"a", "b", "c"}) {
    jobs.push_back(before.apply(a_job(name).entries({"cron 0 30 * * * ?; calendars de"})));
  }
  Recovered stored = before.recovered();
  REQUIRE(stored.jobs.size() == 3);
  REQUIRE(stored.calendars.size() == 1);
  for (RecoveredJob& job : stored.jobs) {
    job.rules = stored.jobs[0].rules;
    job.zone = stored.jobs[0].zone;
    if (job.job.id == jobs[1]) job.job.space = "other";
  }
  stored.calendars.push_back(stored.calendars[0]);
  stored.calendars[1].row.space = "other";
  stored.calendars[1].row.calendar = std::make_shared<const model::Calendar>(open_today(false));
  Harness after(std::move(stored), {}, Epoch{8});
  after.now = before.now;
  const auto next = [&](JobId id) { return StateSurgery::state_of(*after.scheduler).find_job(id)->next_tick(); };
  REQUIRE(next(jobs[0]));
  REQUIRE(next(jobs[1]));
  CHECK(next(jobs[2]) == next(jobs[0]));
  CHECK(*next(jobs[0]) < wall_from_ms(1'700'006'400'000));   // today
  CHECK(*next(jobs[1]) >= wall_from_ms(1'700'006'400'000));  // midnight
}

TEST_CASE("calendars: what is due after an end moves when an edit closes its moment") {
  Harness h;
  h.join(a_worker("w1", 4));
  REQUIRE(h.apply_calendar(open_today(true)));
  const JobId job = h.apply(by_calendar("after_end 30s; calendars de"));
  h.advance(31s);
  REQUIRE(h.runs_of(job).size() == 1);
  const RunId run = h.pop_dispatches().at(0).attempt.run;
  h.accept(run);
  h.report(run, model::RunState::Succeeded);
  const WallTime due = *h.jobs.at(job).memory.due;
  CHECK(due == h.now.wall + 30s);
  REQUIRE(h.apply_calendar(open_today(false))->from < due);
  h.advance(40s);
  CHECK(h.runs_of(job).size() == 1);
  CHECK(h.jobs.at(job).memory.due == wall_from_ms(1'700'006'400'000));  // the next midnight
}

TEST_CASE("calendars: a fixed delay is never due when no open day follows its last end") {
  Harness h;
  h.join(a_worker("w1", 4));
  model::Calendar today = open_today(true);
  today.covers = "2023-01-01..2023-11-14";
  today.beyond = model::BeyondCover::Hold;
  REQUIRE(h.apply_calendar(today));
  const JobId job = h.apply(by_calendar("after_end 1h; calendars de"));
  const auto run_until = [&](Millis wait) {
    const RunId run = h.run_now("j");
    h.accept(run);
    h.advance(wait);
    h.report(run, model::RunState::Succeeded);
  };
  run_until(1s);
  REQUIRE(h.jobs.at(job).memory.due == h.now.wall + 1h);  // 23:13
  run_until(50min);                                       // to 23:03, so an hour later the calendar has ended
  CHECK_FALSE(h.jobs.at(job).memory.due);
  h.advance(2h);
  CHECK(h.runs_of(job).size() == 2);
}
