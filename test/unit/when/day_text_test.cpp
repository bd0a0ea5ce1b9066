#include "common/model/day_text.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::model;

namespace {

template <typename Value>
std::string problem(const Result<Value>& result) {
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("day text: reads days and ranges") {
  CHECK(day_to_text(day_from_text("2026-02-28").value()) == "2026-02-28");
  const auto range = day_range_from_text("2026-02-15..2026-02-23");
  REQUIRE(range);
  CHECK(day_to_text(range->first) == "2026-02-15");
  CHECK(day_to_text(range->last) == "2026-02-23");
  CHECK(day_range_from_text("2028-02-29")->first == day_range_from_text("2028-02-29")->last);
}

TEST_CASE("day text: says what is wrong with a day") {
  CHECK(problem(day_from_text("2026-2-3")) == "\"2026-2-3\" is not a day; write it as \"2026-12-31\"");
  CHECK(problem(day_from_text("2026-02-29")) == "\"2026-02-29\" is not a day that exists; that month has 28 days");
  CHECK(problem(day_from_text("2200-01-01")) == "\"2200-01-01\" is not a day of the years 1970 to 2199");
  CHECK(problem(day_range_from_text("2026-02-15..2026-02-14")) ==
        "\"2026-02-15..2026-02-14\" is not a range of days: its last day lies "
        "before its first; swap them");
}

TEST_CASE("day text: reads weekdays, also over the week's end") {
  CHECK(weekdays_from_text("mon-fri").value() == 0b0111110);
  CHECK(weekdays_from_text("Sat,sun").value() == 0b1000001);
  CHECK(weekdays_from_text("fri-mon").value() == 0b1100011);
  CHECK(weekdays_from_text("mon-sun").value() == 0b1111111);
  CHECK(problem(weekdays_from_text("")) ==
        "\"\" is not a list of weekdays; write it as \"mon-fri\" or "
        "\"mon,wed,sat-sun\"");
  CHECK_FALSE(weekdays_from_text("mon-"));
  CHECK_FALSE(weekdays_from_text("mon,,tue"));
}

TEST_CASE("day text: reads times of day") {
  CHECK(clock_from_text("18:00").value() == 18 * 3'600'000);
  CHECK(clock_from_text("18:00:30").value() == 18 * 3'600'000 + 30'000);
  CHECK(problem(clock_from_text("24:00")) == "\"24:00\" is not a time of day; write it as \"18:00\"");
  CHECK_FALSE(clock_from_text("8:00"));
  CHECK_FALSE(clock_from_text("18:60"));
}

TEST_CASE("day text: both ends of a range of times are inside") {
  const auto range = clock_range_from_text("09:30-16:00").value();
  CHECK(range.has(34'200'000));
  CHECK(range.has(57'600'000));
  CHECK_FALSE(range.has(57'600'001));
  CHECK(clock_range_from_text("00:00-24:00").value() == ClockRange{});
  CHECK(clock_range_from_text("22:00-06:00").value().is_empty());
  CHECK(problem(clock_range_from_text("09:30")) ==
        "\"09:30\" is not two times of day; write them as \"09:30-16:00\"");
}
