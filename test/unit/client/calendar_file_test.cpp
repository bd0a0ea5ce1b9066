#include "client/calendar_file.h"

#include <doctest/doctest.h>

#include "client/ics_reader.h"
#include "client/job_file.h"

namespace rota::client {
namespace {

JobFile read_text(const std::string& text, config::Problems& problems) {
  return read_job_file("days.yaml", text, problems);
}

std::string problem_of(const std::string& keys) {
  config::Problems problems;
  (void)read_text("calendars:\n  - name: de\n" + keys, problems);
  return problems.text();
}

const std::string kAll = R"(calendars:
  - name: "nyse"
    description: "New York, \"the\" exchange"
    time_zone: "America/New_York"
    days: "mon-fri"
    exclude:
      - "2026-01-01"
      - "2026-12-24..2026-12-25"
    include:
      - "2026-02-14"
    hours:
      "2026-11-27": "09:30-13:00"
    covers: "2026-01-01..2027-12-31"
    beyond: hold
)";

}  // namespace

TEST_CASE("calendar file: all keys are read, and written as the same file") {
  config::Problems problems;
  const JobFile file = read_text(kAll, problems);
  REQUIRE_MESSAGE(problems.empty(), problems.text());
  CHECK(file.jobs.empty());
  REQUIRE(file.calendars.size() == 1);
  const thrift::Calendar& calendar = file.calendars[0];
  CHECK(calendar.space == "default");
  CHECK(calendar.excluded == std::vector<std::string>{"2026-01-01", "2026-12-24..2026-12-25"});
  CHECK(calendar.hours.at("2026-11-27") == "09:30-13:00");
  CHECK(calendar.beyond == "hold");
  CHECK(calendar_file_text(calendar) == kAll);
}

TEST_CASE("calendar file: a name alone is a calendar, and stands beside jobs") {
  config::Problems problems;
  const JobFile file = read_text("jobs:\n  - {name: a, command: [x]}\ncalendars:\n  - name: all\n", problems);
  REQUIRE_MESSAGE(problems.empty(), problems.text());
  CHECK(file.jobs.size() == 1);
  REQUIRE(file.calendars.size() == 1);
  CHECK(file.calendars[0].days == "mon-sun");
  CHECK(calendar_file_text(file.calendars[0]) == "calendars:\n  - name: \"all\"\n");
}

TEST_CASE("calendar file: what is wrong is told with its place, the value and the remedy") {
  const std::pair<const char*, const char*> cases[] = {
      {"    days: mon-funday\n",
       "days.yaml:3:11 calendars[0].days: \"mon-funday\" is not a list of weekdays; write it as \"mon-fri\" or "
       "\"mon,wed,sat-sun\"\n"},
      {"    exclude: [\"2026-01-01\", \"2026-02-30\"]\n",
       "days.yaml:3:29 calendars[0].exclude[1]: \"2026-02-30\" is not a day that exists; that month has 28 days\n"},
      {"    include: [\"2026-12-26..2026-12-24\"]\n",
       "days.yaml:3:15 calendars[0].include[0]: \"2026-12-26..2026-12-24\" is not a range of days: its last day "
       "lies before its first; swap them\n"},
      {"    hours: {\"2026-11-27\": \"half\"}\n",
       "days.yaml:3:27 calendars[0].hours.2026-11-27: \"half\" is not two times of day; write them as "
       "\"09:30-16:00\"\n"},
      {"    hours: {\"2026-11-27\": \"22:00-02:00\"}\n",
       "days.yaml:3:27 calendars[0].hours.2026-11-27: \"22:00-02:00\" runs over midnight; end it with 24:00 at "
       "the latest\n"},
      {"    covers: 2026\n",
       "days.yaml:3:13 calendars[0].covers: \"2026\" is not a day; write it as \"2026-12-31\", or a range as "
       "\"2026-01-01..2026-12-31\"\n"},
      {"    beyond: hold\n",
       "days.yaml:3:13 calendars[0].beyond: hold needs `covers:`, the range of days of which the calendar knows\n"},
  };
  for (const auto& [keys, wanted] : cases) CHECK(problem_of(keys) == wanted);
  CHECK(problem_of("    beyond: never\n").find("beyond") != std::string::npos);
  CHECK(problem_of("    excludes: []\n").find("did you mean exclude?") != std::string::npos);
  CHECK(problem_of("  - name: de\n").find("is the name of calendars[0] (line 2) too") != std::string::npos);
  config::Problems problems;
  (void)read_text("calendars:\n  - name: a b\n", problems);
  CHECK(problems.text() ==
        "days.yaml:2:11 calendars[0].name: \"a b\" is no name of a calendar; take 1 to 64 letters, digits, '_', "
        "'-' or '.'\n");
}

namespace {

IcsFile ics(const std::string& events) {
  const model::DayRange range{*model::day_from_text("2026-01-01"), *model::day_from_text("2027-12-31")};
  auto file = read_ics("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + events + "END:VCALENDAR\r\n", range);
  REQUIRE(file);
  return *file;
}

std::string event(const std::string& lines) { return "BEGIN:VEVENT\r\nUID:1\r\n" + lines + "END:VEVENT\r\n"; }

std::string text_of(const IcsFile& file) {
  std::string out;
  for (const auto& each : file.days) {
    out += model::day_to_text(each.days.first) + ".." + model::day_to_text(each.days.last) + " " + each.summary + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("ics: whole days, several days, repeats and their exceptions are read in order") {
  CHECK(text_of(ics(event("DTSTART;VALUE=DATE:20261225\r\nSUMMARY:Christmas\r\n"))) ==
        "2026-12-25..2026-12-25 Christmas\n");
  CHECK(text_of(ics(event("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Three\r\n"))) ==
        "2026-12-24..2026-12-26 Three\n");
  CHECK(text_of(ics(event("DTSTART;VALUE=DATE:20250101\r\nRRULE:FREQ=YEARLY\r\nSUMMARY:New Year\r\n"))) ==
        "2026-01-01..2026-01-01 New Year\n2027-01-01..2027-01-01 New Year\n");
  CHECK(text_of(ics(event("DTSTART;VALUE=DATE:20260105\r\nRRULE:FREQ=WEEKLY;COUNT=3\r\n"
                          "EXDATE;VALUE=DATE:20260112\r\nSUMMARY:w\r\n"))) ==
        "2026-01-05..2026-01-05 w\n2026-01-19..2026-01-19 w\n");
  CHECK(text_of(ics(event("DTSTART:20260501T000000\r\nDTEND:20260502T000000\r\nSUMMARY:May\r\n"))) ==
        "2026-05-01..2026-05-01 May\n");
}

TEST_CASE("ics: cancelled events are left out, and those of less than a day are told") {
  CHECK(ics(event("DTSTART;VALUE=DATE:20261225\r\nSTATUS:CANCELLED\r\n")).days.empty());
  const IcsFile file = ics(event("DTSTART:20261127T130000\r\nDTEND:20261127T160000\r\nSUMMARY:early close\r\n"));
  CHECK(file.days.empty());
  CHECK(file.left_out == std::vector<std::string>{"2026-11-27 'early close'"});
  const model::DayRange range{*model::day_from_text("2026-01-01"), *model::day_from_text("2026-12-31")};
  CHECK(!read_ics("name: x", range));
  CHECK(!read_ics("", range));
}

}  // namespace rota::client
