// Which jobs an edit of a calendar leaves without moments: told with the edit, and before it. And which calendars
// that jobs use soon cover no more days.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;

namespace {

/// The harness begins on 14 November 2023 at 22:13:20 UTC, a Tuesday.
model::Calendar covering(std::string covers, const std::string& name = "de") {
  model::Calendar out;
  out.name = name;
  out.covers = std::move(covers);
  out.beyond = out.covers.empty() ? model::BeyondCover::Days : model::BeyondCover::Hold;
  return out;
}

constexpr const char* kOver = "2023-01-01..2023-11-13";
constexpr const char* kLong = "2023-01-01..2025-12-31";

CalendarPtr compiled(const model::Calendar& calendar) {
  auto out = compile_calendar(calendar, std::make_shared<const model::ZoneRules>());
  REQUIRE(out);
  return std::make_shared<const CompiledCalendar>(std::move(*out));
}

/// The edit of the first one, in a call with the others.
ApplyCalendar edit_of(const std::vector<model::Calendar>& calendars, bool only_tell) {
  ApplyCalendar event;
  event.token = Token{1234};
  event.principal = "tester";
  event.space = "default";
  event.calendar = std::make_shared<const model::Calendar>(calendars.front());
  event.compiled = compiled(calendars.front());
  auto beside = std::make_shared<CompiledCalendars>();
  for (const model::Calendar& each : calendars) (*beside)[{"default", each.name}] = compiled(each);
  event.beside = beside;
  event.only_tell = only_tell;
  return event;
}

CalendarApplied answer(Harness& h, const ApplyCalendar& event) {
  h.handle(event);
  REQUIRE(h.last.replies.size() == 1);
  REQUIRE(std::holds_alternative<CalendarApplied>(h.last.replies[0].body));
  return std::get<CalendarApplied>(h.last.replies[0].body);
}

CalendarApplied planned(Harness& h, const std::vector<model::Calendar>& calendars) {
  return answer(h, edit_of(calendars, true));
}

std::string text(const OverJobs& over) {
  std::string out = fmt::format("{} of {} of {}:", over.count, over.looked_at, over.users);
  for (const OverJobs::Job& job : over.named) {
    out += fmt::format(" {}[{}]{}", job.name, fmt::join(job.entries, ","), job.others_fire ? "+" : "");
  }
  return out;
}

}  // namespace

TEST_CASE("over jobs: an edit tells the jobs that it leaves without a moment to come") {
  Harness h;
  h.handle(WorkerStartsKnown{});
  REQUIRE(h.apply_calendar(covering(kLong)));
  REQUIRE(h.apply_calendar(covering(kLong, "nyse")));
  h.apply(a_job("settle").entries({"cron 0 0 18 * * ?; calendars de"}));
  h.apply(a_job("month").entries({"cron 0 0 9 1 * ?", "working_day -1; calendars de", "after_end 1h; calendars de"}));
  h.apply(a_job("starts").entries({"worker_start", "every 1h; calendars de"}));
  h.apply(a_job("other").entries({"cron 0 0 18 * * ?; calendars nyse"}));
  h.apply(a_job("free").every(1h));
  const auto longer = h.apply_calendar(covering("2023-01-01..2026-12-31"));
  REQUIRE(longer);
  CHECK(text(longer->over) == "0 of 3 of 3:");
  const auto over = h.apply_calendar(covering(kOver));
  REQUIRE(over);
  CHECK(text(over->over) == "3 of 3 of 3: settle[0] month[1,2]+ starts[1]+");
}

TEST_CASE("over jobs: a day that is still open when the edit counts is a moment to come") {
  Harness h;
  REQUIRE(h.apply_calendar(covering(kLong)));
  h.apply(a_job("late").entries({"cron 0 59 23 * * ?; calendars de"}));
  h.apply(a_job("soon").entries({"cron 25 13 22 * * ?; calendars de"}));  // 5 s from now, before the edit counts
  CHECK(text(planned(h, {covering("2023-01-01..2023-11-14")}).over) == "1 of 2 of 2: soon[0]");
  CHECK(text(planned(h, {covering(kOver)}).over) == "2 of 2 of 2: late[0] soon[0]");
}

TEST_CASE("over jobs: what its own end lets fire no more is not the calendar's doing") {
  Harness h;
  REQUIRE(h.apply_calendar(covering(kLong)));
  h.apply(a_job("ended").entries({"cron 0 0 18 * * ?; end 2023-11-14T22:13:22Z; calendars de"}));
  h.advance(5s);
  CHECK(text(planned(h, {covering(kOver)}).over) == "0 of 1 of 1:");
}

TEST_CASE("over jobs: a plan tells the same as the edit, and changes nothing") {
  Harness h;
  REQUIRE(h.apply_calendar(covering(kLong)));
  h.apply(a_job("settle").entries({"cron 0 0 18 * * ?; calendars de"}));
  const CalendarApplied plan = planned(h, {covering(kOver)});
  CHECK(plan.version == 2);
  CHECK(plan.changed);
  CHECK(plan.from == h.now.wall + 10s);
  CHECK(h.last.changes.empty());
  CHECK(h.calendars.size() == 1);
  const CalendarApplied same = planned(h, {covering(kLong)});
  CHECK(!same.changed);
  CHECK(same.version == 1);
  const auto done = h.apply_calendar(covering(kOver), 1);
  REQUIRE(done);
  CHECK(done->version == 2);
  CHECK(text(done->over) == text(plan.over));
  h.handle(HoldTicks{"the clock is wrong"});
  CHECK(text(planned(h, {covering(std::string("2023-01-01..2023-11-12"))}).over) == "1 of 1 of 1: settle[0]");
}

TEST_CASE("over jobs: calendars that are edited together are judged together") {
  Harness h;
  REQUIRE(h.apply_calendar(covering(kOver)));
  REQUIRE(h.apply_calendar(covering(kOver, "nyse")));
  h.apply(a_job("both").entries({"cron 0 0 18 * * ?; calendars de,nyse"}));
  CHECK(text(planned(h, {covering(kLong)}).over) == "1 of 1 of 1: both[0]");
  const std::vector together = {covering(kLong), covering(kLong, "nyse")};
  CHECK(text(planned(h, together).over) == "0 of 1 of 1:");
  CHECK(text(answer(h, edit_of(together, false)).over) == "0 of 1 of 1:");
}

TEST_CASE("over jobs: so many schedules are tried, equal ones once, and some jobs are named") {
  Harness h;
  REQUIRE(h.apply_calendar(covering(kLong)));
  for (int i = 0; i < 700; ++i) {
    h.apply(a_job(fmt::format("j{}", i)).entries({"cron 0 0 18 * * ?; calendars de"}));
  }
  const OverJobs equal = planned(h, {covering(kOver)}).over;
  CHECK(equal.users == 700);
  CHECK(equal.looked_at == 700);
  CHECK(equal.count == 700);
  CHECK(equal.named.size() == 20);
  CHECK(equal.named[19].name == "j19");
  for (int i = 0; i < 700; ++i) {
    h.apply(a_job(fmt::format("j{}", i)).entries({fmt::format("cron {} {} 18 * * ?; calendars de", i % 60, i / 60)}));
  }
  const OverJobs different = planned(h, {covering(kOver)}).over;
  CHECK(different.users == 700);
  CHECK(different.looked_at == 500);
  CHECK(different.count == 500);
}

TEST_CASE("calendars: the status names those that jobs use and that end within 60 days, the first to end first") {
  Harness h;
  REQUIRE(h.apply_calendar(covering("2023-01-01..2024-01-13", "in_60")));  // 60 days and 2 hours from now
  REQUIRE(h.apply_calendar(covering("2023-01-01..2023-12-24", "soon")));
  REQUIRE(h.apply_calendar(covering(kLong, "later")));
  REQUIRE(h.apply_calendar(covering("", "ever")));
  REQUIRE(h.apply_calendar(covering("2023-01-01..2023-12-24", "unused")));
  model::Calendar days = covering("2023-01-01..2023-12-31", "days");
  days.beyond = model::BeyondCover::Days;
  REQUIRE(h.apply_calendar(days));
  for (const char* name : {"in_60", "soon", "later", "ever", "days"}) {
    h.apply(a_job(name).entries({fmt::format("cron 0 0 18 * * ?; calendars {}", name)}));
  }
  h.apply(a_job("again").entries({"every 1h; calendars soon"}));
  const auto told = [&] {
    std::vector<std::string> out;
    for (const EndingCalendar& each : h.scheduler->snapshot(h.now).calendars_ending) {
      CHECK(each.space == "default");
      out.push_back(fmt::format("{} {} {} {}", each.name, model::day_to_text(each.last_day),
                                each.holds ? "hold" : "days", each.jobs));
      CHECK(to_ms(each.end) % 86'400'000 == 0);
    }
    return out;
  };
  CHECK(told() == std::vector<std::string>{"soon 2023-12-24 hold 2", "days 2023-12-31 days 1"});
  h.advance(3h);
  CHECK(told().size() == 3);
  CHECK(told().back() == "in_60 2024-01-13 hold 1");
  REQUIRE(h.apply_calendar(covering(kLong, "soon")));
  h.remove("days");
  CHECK(told() == std::vector<std::string>{"in_60 2024-01-13 hold 1"});
}
