// Calendars at the edge: what comes in is checked and compiled, and what they say of days.
#include <doctest/doctest.h>

#include "api_setup.h"
#include "master/api/calendar_intake.h"

namespace rota::master::api::test {
namespace {

thrift::CalendarEdit a_calendar_edit(const std::string& name = "de") {
  thrift::CalendarEdit edit;
  edit.calendar.name = name;
  edit.calendar.days = "mon-fri";
  edit.calendar.excluded = {"2026-12-25..2026-12-26"};
  return edit;
}

std::string refusal(const thrift::CalendarEdit& edit) {
  const auto event = accept_calendar(edit, "me");
  return event ? "" : event.error().message;
}

model::CalendarRow a_row(std::int32_t version, WallTime from, std::vector<std::string> exclude) {
  model::Calendar calendar;
  calendar.name = "de";
  calendar.time_zone = "Europe/Berlin";
  calendar.days = "mon-fri";
  calendar.exclude = std::move(exclude);
  calendar.include = {"2026-12-19"};
  calendar.hours = {{"2026-12-24", "09:00-12:30"}, {"2026-12-31", "00:00-24:00"}};
  calendar.covers = "2026-01-01..2026-12-31";
  calendar.beyond = model::BeyondCover::Hold;
  model::CalendarRow row;
  row.version = version;
  row.from = from;
  row.calendar = std::make_shared<const model::Calendar>(std::move(calendar));
  return row;
}

std::string lines(const std::vector<model::CalendarRow>& rows, const std::string& first, const std::string& last) {
  const auto days = preview(rows, *model::day_from_text(first), *model::day_from_text(last));
  REQUIRE(days);
  std::string out;
  for (const auto& day : *days) {
    out += day.day + " " + day.answer + (day.hours.empty() ? "" : " " + day.hours) + " | " + day.why + " | " +
           std::to_string(day.version) + (day.__isset.from_ms ? " from " + std::to_string(day.from_ms) : "") + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("calendars: an edit is compiled, or refused with key, value and remedy") {
  const auto event = accept_calendar(a_calendar_edit(), "me");
  REQUIRE(event);
  CHECK(event->compiled->on(*model::day_from_text("2026-12-25")) == core::DayAnswer::Closed);
  CHECK(refusal(a_calendar_edit("a b")) ==
        "name: \"a b\" is no name of a calendar; take 1 to 64 letters, digits, '_', '-' or '.'");
  auto edit = a_calendar_edit();
  edit.calendar.time_zone = "Europe/Berln";
  CHECK(refusal(edit).starts_with("time_zone: "));
  CHECK(refusal(edit).find("Europe/Berlin") != std::string::npos);
  edit = a_calendar_edit();
  edit.calendar.beyond = "never";
  CHECK(refusal(edit) == "beyond: \"never\" is none of days, hold");
  edit = a_calendar_edit();
  edit.calendar.excluded.push_back("2026-02-30");
  CHECK(refusal(edit) == "exclude[1]: \"2026-02-30\" is not a day that exists; that month has 28 days");
  edit.calendar.description = std::string(1001, 'x');
  CHECK(refusal(edit).find("description: 1001 bytes, at most 1000 are allowed; exclude[1]") == 0);
}

TEST_CASE("calendars: a preview names for each day the key that decides it") {
  const auto row = a_row(1, wall_from_ms(0), {"2026-12-25..2026-12-26"});
  CHECK(lines({row}, "2026-12-18", "2026-12-20") ==
        "2026-12-18 open | days: mon-fri | 1\n"
        "2026-12-19 open | include: 2026-12-19 | 1\n"
        "2026-12-20 closed | days: mon-fri | 1\n");
  CHECK(lines({row}, "2026-12-24", "2026-12-26") ==
        "2026-12-24 open 09:00-12:30 | days: mon-fri | 1\n"
        "2026-12-25 closed | exclude: 2026-12-25..2026-12-26 | 1\n"
        "2026-12-26 closed | exclude: 2026-12-25..2026-12-26 | 1\n");
  CHECK(lines({row}, "2026-12-31", "2027-01-01") ==
        "2026-12-31 open 00:00-24:00 | days: mon-fri | 1\n"
        "2027-01-01 held | beyond covers: 2026-01-01..2026-12-31 (hold) | 1\n");
}

TEST_CASE("calendars: a preview shows another version on the day on which it begins to count") {
  // 2026-12-22 10:00 in Berlin.
  const auto from = wall_from_ms(1'797'930'000'000);
  const auto text = lines({a_row(1, wall_from_ms(0), {}), a_row(2, from, {"2026-12-22..2026-12-23"})},
                          "2026-12-21", "2026-12-23");
  CHECK(text ==
        "2026-12-21 open | days: mon-fri | 1\n"
        "2026-12-22 open | days: mon-fri | 1\n"
        "2026-12-22 closed | exclude: 2026-12-22..2026-12-23 | 2 from 1797930000000\n"
        "2026-12-23 closed | exclude: 2026-12-22..2026-12-23 | 2\n");
}

TEST_CASE("calendars: what was stored under a name before its deletion does not count") {
  auto deleted = a_row(2, wall_from_ms(20), {});
  deleted.deleted = true;
  const auto present = present_versions({a_row(1, wall_from_ms(10), {}), deleted, a_row(3, wall_from_ms(30), {})});
  REQUIRE(present.size() == 1);
  CHECK(present[0].version == 3);
  CHECK(present_versions({a_row(1, wall_from_ms(10), {}), deleted}).empty());
}

namespace {

/// The calendar `de` as version 1, closed on the days of a_calendar_edit.
void store_calendar(Stored& stored) {
  core::Changes rows;
  model::CalendarRow row;
  row.version = 1;
  row.calendar = accept_calendar(a_calendar_edit(), "me")->calendar;
  rows.calendars.push_back(row);
  stored.put(rows);
}

/// The loop's answer to an edit: it leaves one of three jobs without a moment.
std::optional<core::ReplyBody> leaves_one_over(const core::Event& event) {
  const auto* edit = std::get_if<core::ApplyCalendar>(&event);
  if (edit == nullptr) return std::nullopt;
  core::CalendarApplied out{2, kNow + Millis{10'000}, true, false};
  out.over = {{{"settle", {0, 2}, true}}, 1, 3, 3};
  return out;
}

thrift::CalendarEdit a_change() {
  auto edit = a_calendar_edit();
  edit.calendar.excluded.push_back("2026-12-31");
  return edit;
}

std::vector<thrift::CalendarEdited> apply(TestMaster& master, const std::vector<thrift::CalendarEdit>& edits,
                                          bool dry_run, const thrift::RequestHead& head = {}) {
  const auto answer = master.ask([&](auto& client) {
    std::vector<thrift::CalendarEdited> out;
    client.apply_calendars(out, head, edits, dry_run);
    return out;
  });
  REQUIRE(answer);
  return *answer;
}

}  // namespace

TEST_CASE("calendars: a plan asks the leader which jobs can never fire again, and changes nothing") {
  Stored stored;
  store_calendar(stored);
  TestMaster master(stored.memory);
  master.leader.script = leaves_one_over;
  const auto plan = apply(master, {a_change(), a_calendar_edit("new")}, true);
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].what == "changed");
  REQUIRE(plan[0].__isset.jobs_over);
  const thrift::JobsOver& over = plan[0].jobs_over;
  REQUIRE(over.jobs.size() == 1);
  CHECK(over.jobs[0].name == "settle");
  CHECK(over.jobs[0].entries == std::vector<std::int32_t>{0, 2});
  CHECK(over.jobs[0].others_fire);
  CHECK(over.count == 1);
  CHECK(over.looked_at == 3);
  CHECK(over.users == 3);
  CHECK(plan[1].what == "created");
  CHECK(!plan[1].__isset.jobs_over);
  const auto posted = master.leader.posted_of<core::ApplyCalendar>();
  REQUIRE(posted.size() == 1);
  CHECK(posted[0].only_tell);
  CHECK(posted[0].beside->size() == 2);
  const auto done = apply(master, {a_change()}, false);
  REQUIRE(done[0].__isset.jobs_over);
  CHECK(done[0].jobs_over.jobs == over.jobs);
  CHECK(!master.leader.posted_of<core::ApplyCalendar>().back().only_tell);
}

TEST_CASE("calendars: a follower asks its leader for a plan, and does without where none answers") {
  Stored stored;
  store_calendar(stored);
  TestMaster leader(stored.memory), follower(stored.memory, false);
  leader.leader.script = leaves_one_over;
  follower.leader.address = model::Address{"127.0.0.1", leader.server.port()};
  const auto plan = apply(follower, {a_change()}, true);
  CHECK(plan[0].what == "changed");
  CHECK(plan[0].jobs_over.count == 1);
  CHECK(leader.leader.posted_of<core::ApplyCalendar>().size() == 1);
  leader.server.stop();
  const auto alone = apply(follower, {a_change()}, true);
  CHECK(alone[0].what == "changed");
  CHECK(alone[0].version == 2);
  CHECK(!alone[0].__isset.jobs_over);
}

}  // namespace rota::master::api::test
