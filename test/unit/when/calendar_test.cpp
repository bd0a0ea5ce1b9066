#include "master/core/time/calendar.h"

#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;

namespace {

model::Day day(const char* text) { return model::day_from_text(text).value(); }

std::string next_open(const model::Calendar& calendar, const char* from) {
  const auto open = calendar_of(calendar)->next_open(day(from));
  return open ? model::day_to_text(*open) : "never";
}

std::string problem(const model::Calendar& calendar) {
  const auto compiled = compile_calendar(calendar, zone_of("UTC"));
  return compiled ? "" : compiled.error().message;
}

}  // namespace

TEST_CASE("calendar: include beats exclude, which beats the weekdays") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-02-15..2026-02-23"};
  calendar.include = {"2026-02-14", "2026-02-20"};
  const auto compiled = calendar_of(calendar);
  CHECK(compiled->on(day("2026-02-13")) == DayAnswer::Open);    // a Friday
  CHECK(compiled->on(day("2026-02-14")) == DayAnswer::Open);    // a Saturday, worked
  CHECK(compiled->on(day("2026-02-16")) == DayAnswer::Closed);  // a Monday in the range
  CHECK(compiled->on(day("2026-02-20")) == DayAnswer::Open);    // in both
  CHECK(compiled->on(day("2026-02-24")) == DayAnswer::Open);
  CHECK(compiled->on(day("2026-02-28")) == DayAnswer::Closed);  // a Saturday
}

TEST_CASE(
    "calendar: the next open day lies beyond long ranges, or on an "
    "included day in them") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-01-01..2150-12-31"};
  CHECK(next_open(calendar, "2026-02-01") == "2151-01-01");
  calendar.include = {"2100-02-06"};
  CHECK(next_open(calendar, "2026-02-01") == "2100-02-06");
  CHECK(next_open(calendar, "2100-02-07") == "2151-01-01");
}

TEST_CASE("calendar: beyond what it covers its weekdays decide, or nothing is open") {
  model::Calendar calendar = weekdays_calendar();
  calendar.covers = "2026-01-01..2026-12-31";
  calendar.exclude = {"2026-12-28..2027-01-15"};
  CHECK(next_open(calendar, "2026-12-28") == "2027-01-01");
  CHECK(calendar_of(calendar)->on(day("2027-01-02")) == DayAnswer::Closed);
  calendar.beyond = model::BeyondCover::Hold;
  CHECK(next_open(calendar, "2026-12-28") == "never");
  CHECK(calendar_of(calendar)->on(day("2027-01-04")) == DayAnswer::Held);
  CHECK(next_open(calendar, "2020-01-01") == "2026-01-01");
}

TEST_CASE("calendar: ranges may overlap and touch") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-03-04..2026-03-10", "2026-03-02", "2026-03-03", "2026-03-05..2026-03-06"};
  CHECK(next_open(calendar, "2026-03-01") == "2026-03-11");
}

TEST_CASE("calendar: says what is wrong") {
  model::Calendar calendar = weekdays_calendar();
  calendar.exclude = {"2026-01-01", "2026-13-01"};
  CHECK(problem(calendar) == "exclude[1]: \"2026-13-01\" is not a day that exists; months are 01 to 12");
  calendar.exclude = {"1970-01-01..2199-12-31"};
  CHECK(problem(calendar) == "days: mon-fri leaves no day open; open some, or add one to `include`");
  calendar.exclude.clear();
  calendar.hours = {{"2026-11-27", "13:00-09:30"}};
  CHECK(problem(calendar) ==
        "hours.2026-11-27: it runs over midnight; end it "
        "with 24:00 at the latest");
  calendar.hours = {{"2026-11-27", "09:30-13:00"}, {"2026-11-26..2026-11-28", "09:30-13:00"}};
  CHECK(problem(calendar) == "hours: 2026-11-27 is given twice; keep one");
  calendar.hours.clear();
  calendar.beyond = model::BeyondCover::Hold;
  CHECK(problem(calendar) == "beyond: hold needs `covers`; give it, or leave beyond out");
}
