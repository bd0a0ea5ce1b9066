// Why a schedule has no tick at a moment, and whose tick it is, in words.
#include <doctest/doctest.h>

#include "common/base/duration_text.h"
#include "master/api/moment_words.h"

namespace rota::master::api {
namespace {

WallTime moment(const char* text) {
  const auto at = parse_moment(text);
  REQUIRE(at);
  return *at;
}

model::CalendarRow row_of(std::int32_t version, const char* from, model::Calendar calendar) {
  model::CalendarRow row;
  row.version = version;
  row.from = row.changed = moment(from);
  row.calendar = std::make_shared<const model::Calendar>(std::move(calendar));
  return row;
}

model::Calendar calendar_named(const std::string& name) {
  model::Calendar out;
  out.name = name;
  out.days = "mon-fri";
  return out;
}

/// "de": closed on Friday, 2026-05-01; from Monday, 2026-05-11 12:00, on also on the four days that follow. "short"
/// ends at 13:00 on the 8th; "year" knows 2026 alone.
std::vector<model::CalendarRow> known(const std::string& name) {
  model::Calendar calendar = calendar_named(name);
  if (name == "de") {
    calendar.exclude = {"2026-05-01"};
    model::Calendar edited = calendar;
    edited.exclude = {"2026-05-01", "2026-05-12..2026-05-15"};
    return {row_of(1, "2026-01-01T00:00:00Z", calendar), row_of(2, "2026-05-11T12:00:00Z", edited)};
  }
  if (name == "short") calendar.hours = {{"2026-05-08", "09:00-13:00"}};
  if (name == "year") {
    calendar.covers = "2026-01-01..2026-12-31";
    calendar.beyond = model::BeyondCover::Hold;
  }
  return {row_of(1, "2026-01-01T00:00:00Z", calendar)};
}

model::Schedule of(std::vector<std::string> lines) {
  model::Schedule out;
  out.kind = model::ScheduleKind::Entries;
  out.entries = std::move(lines);
  return out;
}

std::string why(const model::Schedule& schedule, const char* at) {
  const MomentWords words = why_no_tick(schedule, moment("2026-01-01T00:00:00Z"), 7, known, moment(at));
  return words.reason + "|" + words.sentence;
}

std::string whose(const model::Schedule& schedule, const char* at) {
  return whose_tick(schedule, moment("2026-01-01T00:00:00Z"), 7, known, moment(at)).sentence;
}

/// "entry|calendar|version" of what keeps the moment from being a tick, or of whose it is.
std::string decided(const model::Schedule& schedule, const char* at) {
  const WallTime anchor = moment("2026-01-01T00:00:00Z");
  MomentWords words = why_no_tick(schedule, anchor, 7, known, moment(at));
  if (words.reason.empty()) words = whose_tick(schedule, anchor, 7, known, moment(at));
  return words.entry + "|" + words.calendar + "|" + std::to_string(words.calendar_version);
}

}  // namespace

TEST_CASE("moment words: what a calendar closes names entry, calendar, version, key and where it goes") {
  CHECK(why(of({"cron 0 9 * * *; calendars de"}), "2026-05-01T09:00:00Z") ==
        "closed|Entry 1 names it, but it is closed by calendar de version 1 (the first one), exclude: 2026-05-01: "
        "2026-05-01, skipped.");
  CHECK(why(of({"cron 0 9 * * *; calendars de; otherwise next; name morning"}), "2026-05-01T09:00:00Z") ==
        "moved|Entry morning names it, but it is closed by calendar de version 1 (the first one), exclude: 2026-05-01: "
        "2026-05-01, moved to 2026-05-04.");
  CHECK(why(of({"cron 0 9 * * *; calendars de"}), "2026-05-14T09:00:00Z") ==
        "closed|Entry 1 names it, but it is closed by calendar de version 2 (counts from 2026-05-11T12:00:00.000Z), "
        "exclude: 2026-05-12..2026-05-15: 2026-05-14, skipped.");
  CHECK(why(of({"cron 0 15 * * *; calendars short"}), "2026-05-08T15:00:00Z") ==
        "closed|Entry 1 names it, but it is closed by calendar short version 1 (the first one), hours: 09:00-13:00: "
        "2026-05-08 (outside of its hours), skipped.");
  CHECK(why(of({"cron 0 15 * * *; calendars year"}), "2027-01-04T15:00:00Z") ==
        "closed|Entry 1 names it, but it is closed by calendar year version 1 (the first one), beyond covers: "
        "2026-01-01..2026-12-31 (hold): 2027-01-04 (beyond what it covers), skipped.");
  CHECK(why(of({"cron 0 3 * * *; calendars de; day -1"}), "2026-05-02T03:00:00Z").ends_with("2026-05-01, skipped (day: -1)."));
}

TEST_CASE("moment words: what an edit took away names the version that did it") {
  const auto schedule = of({"cron 0 9 * * *; calendars de; otherwise previous"});
  CHECK(why(schedule, "2026-05-14T09:00:00Z") ==
        "edited|Entry 1 had its tick here until an edit, calendar de version 2 (counts from "
        "2026-05-11T12:00:00.000Z), moved it to a time that was over by then.");
}

TEST_CASE("moment words: hours and bounds of an entry") {
  CHECK(why(of({"every 30m; between 09:30-16:00; time_zone Europe/Berlin"}), "2026-05-04T05:30:00Z") ==
        "outside_between|Entry 1 names it, but it is 07:30:00 in Europe/Berlin, outside of between: 09:30-16:00.");
  CHECK(why(of({"cron 0 9 * * *; start 2026-06-01T00:00:00Z"}), "2026-05-04T09:00:00Z") ==
        "before_start|Entry 1 names it, but begins at 2026-06-01T00:00:00.000Z.");
  CHECK(why(of({"cron 0 9 * * *; end 2026-04-01T00:00:00Z"}), "2026-05-04T09:00:00Z") ==
        "after_end|Entry 1 names it, but ended at 2026-04-01T00:00:00.000Z.");
}

TEST_CASE("moment words: what summer time skips or repeats") {
  CHECK(why(of({"cron 30 2 * * *; time_zone Europe/Berlin; skipped_time skip"}), "2026-03-29T01:00:00Z") ==
        "skipped_time|Entry 1 names a local time that does not exist on this day: clocks in Europe/Berlin go from "
        "02:00:00 to 03:00:00 at this moment, and skipped_time: skip leaves it out.");
  CHECK(why(of({"cron 30 2 * * *; time_zone Europe/Berlin"}), "2026-10-25T01:30:00Z") ==
        "repeated_time|Entry 1 names it, but 02:30:00 comes twice on this day in Europe/Berlin, and repeated_time: first "
        "takes the other one.");
  CHECK(why(of({"cron 30 2 * * *; time_zone Europe/Berlin; repeated_time second"}), "2026-10-25T00:30:00Z") ==
        "repeated_time|Entry 1 names it, but 02:30:00 comes twice on this day in Europe/Berlin, and repeated_time: "
        "second takes the other one.");
  model::Schedule plain;  // a cron by itself, as older clients send it
  plain.kind = model::ScheduleKind::Cron;
  plain.cron = "30 2 * * *";
  plain.time_zone = "Europe/Berlin";
  plain.skipped_time = model::SkippedTime::Skip;
  CHECK(why(plain, "2026-03-29T01:00:00Z").starts_with("skipped_time|"));
}

TEST_CASE("moment words: a working day that is another one") {
  CHECK(why(of({"working_day 1; time 12:00; calendars de"}), "2026-05-01T12:00:00Z") ==
        "other_working_day|Entry 1 is due on working day 1 of the month by calendar de version 1 (the first one): that "
        "is 2026-05-04.");
  CHECK(why(of({"working_day 23"}), "2026-05-01T00:00:00Z") ==
        "other_working_day|Entry 1 is due on working day 23 of the month by days from Monday to Friday: this month has "
        "none.");
  CHECK(why(of({"working_day 1; time 12:00"}), "2026-05-05T13:00:00Z") == "|");
}

TEST_CASE("moment words: entry, calendar and version that decided stand by themselves") {
  CHECK(decided(of({"cron 0 9 * * *; calendars de"}), "2026-05-01T09:00:00Z") == "1|de|1");
  CHECK(decided(of({"every 7m", "cron 0 9 * * *; calendars de; name a"}), "2026-05-14T09:00:00Z") == "a|de|2");
  CHECK(decided(of({"cron 0 9 * * *; calendars de; otherwise previous"}), "2026-05-14T09:00:00Z") == "1|de|2");
  CHECK(decided(of({"working_day 1; time 12:00; calendars de"}), "2026-05-01T12:00:00Z") == "1|de|1");
  CHECK(decided(of({"working_day 1; time 12:00; calendars de,year"}), "2026-05-01T12:00:00Z") == "1||0");
  CHECK(decided(of({"cron 0 9 * * *; start 2026-06-01T00:00:00Z"}), "2026-05-04T09:00:00Z") == "1||0");
  CHECK(decided(of({"cron 0 9 1 * *; calendars de; otherwise next"}), "2026-05-04T09:00:00Z") == "1|de|1");
  CHECK(decided(of({"cron 0 9 * * *; name a", "cron 0 9 4 * *"}), "2026-05-04T09:00:00Z") == "a,2||0");
  CHECK(decided(of({"cron 0 9 * * *"}), "2026-05-04T09:30:00Z") == "||0");
}

TEST_CASE("moment words: no entry names the moment") {
  CHECK(why(of({"cron 0 9 * * *; calendars de", "every 1h; start 2026-01-01T00:00:00Z"}), "2026-05-01T09:30:00Z") == "|");
  CHECK(why(of({"after_end 10m"}), "2026-05-01T09:30:00Z") == "|");
}

TEST_CASE("moment words: a tick is told with its entries, and with the day from which it was moved") {
  CHECK(whose(of({"cron 0 9 * * *"}), "2026-05-04T09:00:00Z") == "");
  CHECK(whose(of({"cron 0 9 * * *; name a", "cron 0 9 4 * *", "cron 0 8 * * *"}), "2026-05-04T09:00:00Z") ==
        "It is the tick of entry a, 2.");
  CHECK(whose(of({"cron 0 9 1 * *; calendars de; otherwise next"}), "2026-05-04T09:00:00Z") ==
        "It is the tick of entry 1, moved here from 2026-05-01, which calendar de version 1 (the first one), exclude: "
        "2026-05-01 closes.");
}

}  // namespace rota::master::api
