#include "master/core/time/entry.h"

#include <algorithm>
#include <chrono>

#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;
using namespace std::chrono_literals;
using model::EntryKind;
using model::Otherwise;
using model::ScheduleEntry;

namespace {

ScheduleEntry working_day(int nth, const char* time) {
  ScheduleEntry entry;
  entry.kind = EntryKind::WorkingDay;
  entry.working_day = nth;
  entry.time = time;
  return entry;
}

ScheduleEntry moved(const std::string& cron, Otherwise otherwise, const std::string& zone = "UTC") {
  ScheduleEntry entry = cron_entry(cron, zone);
  entry.otherwise = otherwise;
  return entry;
}

ScheduleEntry open_hours(ScheduleEntry entry, const char* between) {
  entry.between = between;
  return entry;
}

/// As compiled_entry, with a calendar that is edited at each of these moments.
CompiledEntry edited_entry(ScheduleEntry entry,
                           const std::vector<std::pair<const char*, model::Calendar>>& versions) {
  CalendarHistory history;
  for (const auto& [from, calendar] : versions) history.push_back({at(from), calendar_of(calendar)});
  entry.calendars = {"cn"};
  auto compiled = compile_entry(entry, {zone_of(entry.time_zone), {history}}, WallTime{}, 1);
  if (!compiled) FAIL(compiled.error().message);
  return *compiled;
}

std::string problem(const ScheduleEntry& entry) {
  const auto problems = entry_problems(entry);
  return problems.empty() ? "" : problems.front();
}

}  // namespace

TEST_CASE(
    "entry: what falls on a closed day is skipped, or moved with its "
    "local time") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-02-16..2026-02-20"};
  CHECK(ticks_of(compiled_entry(cron_entry("0 9 * * *"), {calendar}), "2026-02-12T12:00:00Z", 3) ==
        "2026-02-13T09:00 2026-02-23T09:00 2026-02-24T09:00");
  // The 15th is a Sunday before the closed week.
  CHECK(ticks_of(compiled_entry(moved("30 8 15 * *", Otherwise::Next), {calendar}), "2026-02-01T00:00:00Z",
                 2) == "2026-02-23T08:30 2026-03-16T08:30");
  CHECK(ticks_of(compiled_entry(moved("30 8 15 * *", Otherwise::Previous), {calendar}),
                 "2026-02-01T00:00:00Z", 2) == "2026-02-13T08:30 2026-03-13T08:30");
}

TEST_CASE("entry: a moved time meets the day's own and is one moment") {
  const auto entry = compiled_entry(moved("0 9 * * *", Otherwise::Next), {weekdays_calendar()});
  CHECK(ticks_of(entry, "2026-02-13T12:00:00Z", 3) == "2026-02-16T09:00 2026-02-17T09:00 2026-02-18T09:00");
  CHECK(entry.count_between(at("2026-02-13T12:00:00Z"), at("2026-02-18T09:00:00Z"), 100) == 3);
}

TEST_CASE("entry: nothing is moved by more than fifteen days") {
  model::Calendar calendar = weekdays_calendar();
  calendar.days = "mon-sun";
  calendar.exclude = {"2026-02-01..2026-02-16"};
  CHECK(ticks_of(compiled_entry(moved("0 9 1 2 *", Otherwise::Next), {calendar}), "2026-01-01T00:00:00Z",
                 1) == "2027-02-01T09:00");
  calendar.exclude = {"2026-02-01..2026-02-15"};
  CHECK(ticks_of(compiled_entry(moved("0 9 1 2 *", Otherwise::Next), {calendar}), "2026-01-01T00:00:00Z",
                 1) == "2026-02-16T09:00");
}

TEST_CASE("entry: a time that spring skips keeps its name when it is moved") {
  // 29 March 2026 is a Sunday in Berlin, with no 02:30.
  const auto entry =
      compiled_entry(moved("30 2 29 3 *", Otherwise::Next, "Europe/Berlin"), {weekdays_calendar()});
  CHECK(ticks_of(entry, "2026-01-01T00:00:00Z", 1) == "2026-03-30T00:30");
}

TEST_CASE("entry: the day asked for may be the day before, for a night session") {
  ScheduleEntry night = cron_entry("0 1 * * *", "Asia/Shanghai");
  night.day = -1;
  // 01:00 on Saturday belongs to Friday; 01:00 on Monday belongs to Sunday.
  CHECK(ticks_of(compiled_entry(night, {weekdays_calendar()}), "2026-02-12T00:00:00Z", 3) ==
        "2026-02-12T17:00 2026-02-13T17:00 2026-02-16T17:00");
}

TEST_CASE(
    "entry: the day is that of the entry's zone, hours are those of the "
    "calendar's") {
  model::Calendar nyse = weekdays_calendar("nyse");
  nyse.time_zone = "America/New_York";
  nyse.hours = {{"2026-11-27", "09:30-13:00"}};
  const auto entry =
      compiled_entry(open_hours(every_entry(30min, "America/New_York"), "12:00-16:00"), {nyse});
  CHECK(ticks_of(entry, "2026-11-27T00:00:00Z", 4) ==
        "2026-11-27T17:00 2026-11-27T17:30 2026-11-27T18:00 2026-11-30T17:00");
  // The same hours, asked by somebody in Berlin.
  const auto berlin = compiled_entry(cron_entry("0 17-22 * * *", "Europe/Berlin"), {nyse});
  CHECK(ticks_of(berlin, "2026-11-27T00:00:00Z", 4) ==
        "2026-11-27T16:00 2026-11-27T17:00 2026-11-27T18:00 2026-11-30T16:00");
}

TEST_CASE("entry: several calendars must all be open") {
  model::Calendar other = weekdays_calendar("other");
  other.exclude = {"2026-02-17"};
  model::Calendar tuesdays = weekdays_calendar("tuesdays");
  tuesdays.days = "tue";
  CHECK(ticks_of(compiled_entry(cron_entry("0 9 * * *"), {other, tuesdays}), "2026-02-16T00:00:00Z", 2) ==
        "2026-02-24T09:00 2026-03-03T09:00");
}

TEST_CASE(
    "entry: a fixed rate keeps its grid between hours, also over "
    "midnight and a change of its zone") {
  const auto day = compiled_entry(open_hours(every_entry(7min, "Europe/Berlin"), "09:00-09:10"));
  CHECK(ticks_of(day, "2026-03-28T00:00:00Z", 3) == "2026-03-28T08:00 2026-03-28T08:07 2026-03-29T07:06");
  const auto night = compiled_entry(open_hours(every_entry(1h), "23:00-01:00"));
  CHECK(ticks_of(night, "2026-03-28T00:00:00Z", 4) ==
        "2026-03-28T01:00 2026-03-28T23:00 2026-03-29T00:00 2026-03-29T01:00");
}

TEST_CASE("entry: the n-th working day of the month, and the n-th from its end") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-01-01", "2026-01-29..2026-01-31"};
  CHECK(ticks_of(compiled_entry(working_day(-1, "18:00"), {calendar}), "2026-01-01T00:00:00Z", 3) ==
        "2026-01-28T18:00 2026-02-27T18:00 2026-03-31T18:00");
  CHECK(ticks_of(compiled_entry(working_day(5, "18:00"), {calendar}), "2026-01-01T00:00:00Z", 2) ==
        "2026-01-08T18:00 2026-02-06T18:00");
  // Without a calendar from Monday to Friday; a month without a 23rd one has
  // none.
  CHECK(ticks_of(compiled_entry(working_day(23, "")), "2026-01-01T00:00:00Z", 2) ==
        "2026-07-31T00:00 2026-12-31T00:00");
}

TEST_CASE("entry: one moment on a closed day is moved or never comes") {
  ScheduleEntry once;
  once.kind = EntryKind::At;
  once.start = at("2026-02-14T10:00:00.250Z");
  once.time_zone = "Europe/Berlin";
  CHECK(compiled_entry(once).next_after(WallTime{}) == once.start);
  CHECK_FALSE(compiled_entry(once, {weekdays_calendar()}).next_after(WallTime{}));
  once.otherwise = Otherwise::Previous;
  CHECK(compiled_entry(once, {weekdays_calendar()}).next_after(WallTime{}) ==
        at("2026-02-13T10:00:00.250Z"));
}

TEST_CASE("entry: a fixed delay waits until its hours open again") {
  ScheduleEntry delay = every_entry(10min);
  delay.kind = EntryKind::AfterEnd;
  delay.between = "09:00-17:00";
  const auto entry = compiled_entry(delay, {weekdays_calendar()});
  CHECK(entry.due_after_end(at("2026-02-13T12:00:00Z")) == at("2026-02-13T12:10:00Z"));
  CHECK(entry.due_after_end(at("2026-02-13T16:55:00Z")) == at("2026-02-16T09:00:00Z"));
  CHECK_FALSE(entry.next_after(WallTime{}));
}

TEST_CASE("entry: the version in force at the planned moment counts") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar after = weekdays_calendar();
  after.exclude = {"2026-02-10..2026-02-20"};
  const auto entry = edited_entry(cron_entry("0 9,15 * * *"),
                                  {{"2026-01-01T00:00:00Z", before}, {"2026-02-12T12:00:00Z", after}});
  CHECK(ticks_of(entry, "2026-02-11T10:00:00Z", 3) == "2026-02-11T15:00 2026-02-12T09:00 2026-02-23T09:00");
}

TEST_CASE(
    "entry: a time that is moved fires once, however its calendar is "
    "edited meanwhile") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar later = weekdays_calendar();
  later.exclude = {"2026-02-16"};
  ScheduleEntry entry = moved("0 9 14 * *", Otherwise::Next);  // 14 February 2026 is a Saturday
  // On Sunday Monday is closed, so Saturday's tick goes on to Tuesday.
  CHECK(ticks_of(edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-15T00:00:00Z", later}}),
                 "2026-02-01T00:00:00Z", 2) == "2026-02-17T09:00 2026-03-16T09:00");
  // On Monday, after it fired, Saturday is made a working day: too late, it has
  // fired.
  model::Calendar open = weekdays_calendar();
  open.include = {"2026-02-14"};
  CHECK(ticks_of(edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-16T10:00:00Z", open}}),
                 "2026-02-01T00:00:00Z", 2) == "2026-02-16T09:00 2026-03-16T09:00");
}

TEST_CASE("entry: a time that was moved back and fired does not fire again when an edit opens its own day") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar open = weekdays_calendar();
  open.include = {"2026-02-14"};
  ScheduleEntry entry = moved("0 9 14 * *", Otherwise::Previous);  // a Saturday
  const auto late = edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-13T12:00:00Z", open}});
  CHECK(ticks_of(late, "2026-02-01T00:00:00Z", 2) == "2026-02-13T09:00 2026-03-13T09:00");
  CHECK(late.count_between(at("2026-02-01T00:00:00Z"), at("2026-02-28T00:00:00Z"), 100) == 1);
  const auto in_time = edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-13T08:00:00Z", open}});
  CHECK(ticks_of(in_time, "2026-02-01T00:00:00Z", 2) == "2026-02-14T09:00 2026-03-13T09:00");
  entry = {};
  entry.kind = EntryKind::At;
  entry.start = at("2026-02-14T09:00:00Z");
  entry.otherwise = Otherwise::Previous;
  const auto once = edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-13T12:00:00Z", open}});
  CHECK(ticks_of(once, "2026-02-01T00:00:00Z", 2) == "2026-02-13T09:00");
}

TEST_CASE("entry: what an edit would move back into the past is left out") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar closed = weekdays_calendar();
  closed.exclude = {"2026-02-13"};  // a Friday
  const ScheduleEntry entry = moved("0 9 13 * *", Otherwise::Previous);
  CHECK(ticks_of(edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-12T12:00:00Z", closed}}),
                 "2026-02-01T00:00:00Z", 1) == "2026-03-13T09:00");
  CHECK(ticks_of(edited_entry(entry, {{"2026-01-01T00:00:00Z", before}, {"2026-02-12T08:00:00Z", closed}}),
                 "2026-02-01T00:00:00Z", 2) == "2026-02-12T09:00 2026-03-13T09:00");
}

TEST_CASE(
    "entry: a working day that an edit moves back into the past fires "
    "once in its month") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar later = weekdays_calendar();
  later.exclude = {"2026-02-02"};
  const auto entry = edited_entry(working_day(2, "09:00"),
                                  {{"2026-01-01T00:00:00Z", before}, {"2026-02-03T12:00:00Z", later}});
  CHECK(ticks_of(entry, "2026-02-01T00:00:00Z", 2) == "2026-02-03T09:00 2026-03-03T09:00");
}

TEST_CASE("entry: a working day that an edit moves on before it comes fires on its new day alone") {
  const model::Calendar before = weekdays_calendar();
  model::Calendar later = weekdays_calendar();
  later.exclude = {"2026-02-03"};
  const auto entry = edited_entry(working_day(2, "09:00"),
                                  {{"2026-01-01T00:00:00Z", before}, {"2026-02-02T12:00:00Z", later}});
  CHECK(ticks_of(entry, "2026-02-01T00:00:00Z", 2) == "2026-02-04T09:00 2026-03-03T09:00");
}

TEST_CASE("entry: both passages of a time that comes once a year fire") {
  ScheduleEntry yearly = cron_entry("30 2 25 10 *", "Europe/Berlin");
  yearly.repeated_time = model::RepeatedTime::Both;
  CHECK(ticks_of(compiled_entry(yearly), "2026-10-01T00:00:00Z", 3) ==
        "2026-10-25T00:30 2026-10-25T01:30 2027-10-25T00:30");
}

TEST_CASE(
    "entry: beyond what its calendar covers nothing fires, nor is moved "
    "there") {
  model::Calendar calendar = weekdays_calendar();
  calendar.covers = "2026-01-01..2026-12-31";
  calendar.beyond = model::BeyondCover::Hold;
  calendar.exclude = {"2026-12-31"};
  const auto entry = compiled_entry(moved("0 9 31 * *", Otherwise::Next), {calendar});
  CHECK(ticks_of(entry, "2026-09-01T00:00:00Z", 3) == "2026-11-02T09:00");
  const auto back = compiled_entry(moved("0 9 5 * *", Otherwise::Previous), {calendar});
  CHECK(ticks_of(back, "2026-10-01T00:00:00Z", 4) == "2026-10-05T09:00 2026-11-05T09:00 2026-12-04T09:00");
  // A version that covers more, made in time, goes on.
  model::Calendar more = calendar;
  more.covers = "2026-01-01..2027-12-31";
  const auto longer = edited_entry(moved("0 9 31 * *", Otherwise::Next),
                                   {{"2026-01-01T00:00:00Z", calendar}, {"2026-12-01T00:00:00Z", more}});
  CHECK(ticks_of(longer, "2026-09-01T00:00:00Z", 3) ==
        "2026-11-02T09:00 2027-01-01T09:00 2027-02-01T09:00");
}

TEST_CASE("entry: 29 February on an open Monday is found in microseconds") {
  model::Calendar mondays = weekdays_calendar();
  mondays.days = "mon";
  const auto entry = compiled_entry(cron_entry("30 2 29 2 *", "Europe/Berlin"), {mondays});
  CHECK(ticks_of(entry, "2026-01-01T00:00:00Z", 2) == "2044-02-29T01:30 2072-02-29T01:30");
  constexpr int kRounds = 2000;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<WallTime> found;
  for (int i = 0; i < kRounds; ++i) found = entry.next_after(at("2026-01-01T00:00:00Z") + Millis{i});
  const auto took = std::chrono::steady_clock::now() - begin;
  MESSAGE("ns each: ", std::chrono::nanoseconds(took).count() / kRounds);
  CHECK(found == at("2044-02-29T01:30:00Z"));
}

TEST_CASE("entry: start and end hold for what is planned, both included") {
  ScheduleEntry entry = moved("0 9 14 * *", Otherwise::Next);
  entry.start = at("2026-02-16T09:00:00Z");
  entry.end = at("2026-03-16T09:00:00Z");
  CHECK(ticks_of(compiled_entry(entry, {weekdays_calendar()}), "2026-01-01T00:00:00Z", 5) ==
        "2026-02-16T09:00 2026-03-16T09:00");
}

TEST_CASE("entry: says what is wrong, by key") {
  CHECK(problem(cron_entry("61 * * * *")) ==
        "cron '61 * * * *': column 1, minute: 61 is out of range (0 to 59)");
  CHECK(problem(every_entry(10ms)) == "every: 10ms is out of range; write a duration from 100ms to 3660d");
  CHECK(problem(working_day(0, "")) ==
        "working_day: 0 is out of range; write 1 to 31, or -1 (the last one) to -31");
  CHECK(problem(working_day(1, "25:00")) == "time: \"25:00\" is not a time of day; write it as \"18:00\"");
  CHECK(problem(open_hours(working_day(1, ""), "09:00-10:00")) ==
        "between: it does not go with working_day; remove it");
  CHECK(problem(open_hours(every_entry(1s), "9-10")) ==
        "between: \"9-10\" is not two times of day; write them as "
        "\"09:30-16:00\"");
  CHECK(problem(moved("0 9 * * *", Otherwise::Next)) == "calendar.otherwise: it needs a calendar; name it, or remove otherwise");
  ScheduleEntry entry = every_entry(1s);
  entry.calendars = {"cn"};
  entry.otherwise = Otherwise::Next;
  CHECK(problem(entry) ==
        "calendar.otherwise: what falls on a closed day can be moved for cron and at, not for every; remove it");
  entry = cron_entry("0 9 * * *");
  entry.day = -1;
  CHECK(problem(entry) == "calendar.day: it needs a calendar; name it, or remove the day");
  entry.calendars = {"cn"};
  entry.day = 2;
  CHECK(problem(entry) == "calendar.day: 2 is out of range; write -1, 0 or 1");
  entry.day = 0;
  entry.is_as_quartz = true;
  entry.otherwise = Otherwise::Next;
  CHECK(problem(entry) ==
        "calendar.otherwise: Quartz moves nothing to another day; "
        "leave out skipped_time: quartz");
  entry = every_entry(1s);
  entry.is_as_quartz = true;
  CHECK(problem(entry) == "skipped_time: quartz goes with cron; remove it");
  entry = every_entry(1s);
  entry.time = "18:00";
  CHECK(problem(entry) == "time: it goes with working_day; remove it");
  entry = every_entry(1s);
  entry.jitter = 25h;
  CHECK(problem(entry) == "jitter: 1d1h is out of range; write a duration from 0s to 1d");
  entry = {};
  entry.kind = EntryKind::At;
  CHECK(problem(entry) == "at: the moment is missing; write it");
}
