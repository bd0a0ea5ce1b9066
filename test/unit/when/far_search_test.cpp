// How far searches for the next moment walk, counted in days and times that they look at one by one; and that
// those that pass years in one step find what a plain walk finds.
#include <algorithm>
#include <set>

#include "master/core/time/cron_quartz.h"
#include "master/core/time/local_times.h"
#include "master/core/time/open_moments.h"
#include "master/core/time/planned_times.h"
#include "test/unit/cron/plain_time.h"
#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;
using model::ClockRange;
using model::Otherwise;

namespace {

using Ranges = std::vector<ClockRange>;

constexpr std::int64_t kDay = 86'400;
const Ranges kAllDay = {ClockRange{}};

model::Calendar calendar_with(const std::string& days) {
  model::Calendar calendar;
  calendar.name = "made";
  calendar.days = days;
  return calendar;
}

CalendarHistory always(const model::Calendar& calendar) { return {{WallTime{}, calendar_of(calendar)}}; }

std::int64_t second_of(const std::string& moment) { return to_ms(at(moment)) / 1000; }

std::string text_of(std::optional<std::int64_t> local_s) {
  return local_s ? short_text(wall_from_ms(*local_s * 1000)) : "never";
}

/// The next local time, and behind it how many days were tried.
std::string found(const std::string& cron, const DayRules& days, Otherwise otherwise, const std::string& from,
                  std::int64_t most, const Ranges& between = kAllDay) {
  const CronExpression expression = cron_of(cron);
  const CalendarTimes times(expression, days, otherwise, between);
  const auto next = times.next(second_of(from));
  CHECK_MESSAGE(times.days_tried() <= most, cron, " tried ", times.days_tried(), " days");
  return text_of(next);
}

}  // namespace

TEST_CASE("far search: an edit that leaves few open days does not have each day to 2199 looked at") {
  const auto zone = zone_of("UTC");
  model::Calendar few = calendar_with("mon-fri");
  few.exclude = {"2026-03-10..2199-12-31"};
  few.include = {"2026-04-01", "2150-06-01"};
  const CalendarHistory edited = {{WallTime{}, calendar_of(calendar_with("mon-fri"))},
                                  {at("2026-03-01T00:00:00Z"), calendar_of(few)}};
  const DayRules days({edited}, *zone, 0);
  CHECK(found("0 9 * * *", days, Otherwise::Skip, "2026-03-20T00:00:00Z", 3) == "2026-04-01T09:00");
  CHECK(found("0 9 * * *", days, Otherwise::Skip, "2026-04-01T10:00:00Z", 3) == "2150-06-01T09:00");
  CHECK(found("0 9 * * *", days, Otherwise::Skip, "2150-06-01T10:00:00Z", 1) == "never");
  CHECK(found("0 9 * * *", days, Otherwise::Next, "2026-04-01T10:00:00Z", 32) == "2150-06-01T09:00");
  CHECK(found("0 9 * * *", days, Otherwise::Previous, "2026-04-01T10:00:00Z", 32) == "2150-06-01T09:00");
  CHECK(found("0 9 29 2 *", days, Otherwise::Next, "2026-04-01T10:00:00Z", 20) == "never");
  const WorkingDayTimes third(3, 0, days);
  CHECK(text_of(third.next(second_of("2026-03-20T00:00:00Z"))) == "never");
  const WorkingDayTimes first(1, 0, days);
  CHECK(text_of(first.next(second_of("2026-04-20T00:00:00Z"))) == "2150-06-01T00:00");
}

TEST_CASE("far search: calendars that never meet, and a cron that never meets its calendar, try no day") {
  const auto zone = zone_of("Europe/Berlin");
  const DayRules apart({always(calendar_with("mon,wed")), always(calendar_with("tue,sat"))}, *zone, 0);
  const DayRules week({always(calendar_with("mon-fri"))}, *zone, 0);
  for (const Otherwise otherwise : {Otherwise::Skip, Otherwise::Next, Otherwise::Previous}) {
    CHECK(found("* * * * *", apart, otherwise, "2026-01-01T00:00:00Z", 0) == "never");
  }
  CHECK(apart.next_open(0) == std::nullopt);
  CHECK(found("* * * * SAT,SUN", week, Otherwise::Skip, "2026-01-01T00:00:00Z", 0) == "never");
  // Another version that would let it fire is in force no more.
  const CalendarHistory edited = {{WallTime{}, calendar_of(calendar_with("mon-sun"))},
                                  {at("2026-03-01T12:00:00Z"), calendar_of(calendar_with("mon-fri"))}};
  CHECK(found("0 9 * * SAT,SUN", DayRules({edited}, *zone, 0), Otherwise::Skip, "2026-03-02T00:00:00Z", 0) ==
        "never");
}

TEST_CASE("far search: 29 February on an open Monday tries the days on which it is found") {
  const DayRules mondays({always(calendar_with("mon"))}, *zone_of("UTC"), 0);
  CHECK(found("30 2 29 2 *", mondays, Otherwise::Skip, "2026-01-01T00:00:00Z", 1) == "2044-02-29T02:30");
  CHECK(found("30 2 29 2 *", mondays, Otherwise::Skip, "2184-03-01T00:00:00Z", 1) == "2196-02-29T02:30");
  CHECK(found("30 2 29 2 *", mondays, Otherwise::Skip, "2196-03-01T00:00:00Z", 0) == "never");
}

TEST_CASE("far search: hours that hold no time of the cron are passed at once") {
  const auto zone = zone_of("Europe/Berlin");
  model::Calendar mornings = calendar_with("mon-fri");
  mornings.hours = {{"1970-01-01..2029-12-31", "09:00-10:00"}, {"2030-01-01..2199-12-31", "11:00-13:00"}};
  const DayRules days({always(mornings)}, *zone, 0);
  CHECK(found("30 12 * * *", days, Otherwise::Skip, "2026-01-01T00:00:00Z", 3) == "2030-01-01T12:30");
  CHECK(found("0 16 * * *", days, Otherwise::Skip, "2026-01-01T00:00:00Z", 3) == "never");
  CHECK(found("0 16 * * *", days, Otherwise::Next, "2026-01-01T00:00:00Z", 50) == "never");
  CHECK(found("0 16 * * *", days, Otherwise::Skip, "2026-01-01T00:00:00Z", 0, {{0, 3'600'000}}) == "never");
}

TEST_CASE("far search: a rate that never meets its calendar or its hours looks at few of its ticks") {
  const auto utc = zone_of("UTC"), berlin = zone_of("Europe/Berlin");
  const DayRules week({always(calendar_with("mon-fri"))}, *berlin, 0);
  const OpenMoments weekly(week, kAllDay, *berlin);
  CHECK(weekly.next_of_rate(at("2026-01-03T09:00:00Z"), std::chrono::hours{7 * 24}) == std::nullopt);
  CHECK(weekly.times_tried() <= 2000);  // of 9,000 Saturdays; 64 days are one
  const Ranges noon = {{13 * 3'600'000, 17 * 3'600'000}};
  const OpenMoments six_hours(week, noon, *utc);
  CHECK(six_hours.next_of_rate(at("2026-01-03T00:00:00Z"), std::chrono::hours{6}) == std::nullopt);
  CHECK(six_hours.times_tried() == 0);
}

TEST_CASE("far search: what Quartz names on closed days only is looked at near changes of the zone") {
  const auto zone = zone_of("Europe/Berlin");
  const DayRules week({always(calendar_with("mon-fri"))}, *zone, 0);
  const OpenMoments moments(week, kAllDay, *zone);
  CHECK(moments.next_as_quartz(cron_of("0 0/5 * ? * SAT"), at("2026-01-01T00:00:00Z")) == std::nullopt);
  CHECK(moments.times_tried() <= 3000);  // of 2.6 million
}

TEST_CASE("far search: an entry that its newest edit has silenced says so, and fires before it") {
  model::Calendar closed = calendar_with("mon-fri");
  closed.exclude = {"2026-03-02..2199-12-31"};
  EntryParts parts{zone_of("UTC"), {{{WallTime{}, calendar_of(calendar_with("mon-fri"))},
                                     {at("2026-03-10T00:00:00Z"), calendar_of(closed)}}}};
  auto entry = cron_entry("0 9 * * *");
  entry.calendars = {"made"};
  const auto compiled = compile_entry(entry, parts, WallTime{}, 0);
  REQUIRE(compiled);
  CHECK(ticks_of(*compiled, "2026-03-08T10:00:00Z", 3) == "2026-03-09T09:00");
  CHECK(compiled->is_silent_after(at("2026-03-10T00:00:00Z")));
  CHECK(!compiled->is_silent_after(at("2026-03-09T00:00:00Z")));
}

namespace {

/// Days and weeks without order, many of them closed for long.
model::Calendar dice_calendar(plain::Dice& dice, int year) {
  static constexpr const char* kDays[] = {"mon-fri", "mon-sun", "sat", "wed,thu", "sun-tue"};
  model::Calendar calendar = calendar_with(kDays[dice.roll(0, 4)]);
  const auto day = [&](int y) {
    return model::day_to_text(model::Day{std::chrono::year{y} / dice.roll(1, 12) / dice.roll(1, 28)});
  };
  if (dice.roll(0, 2) > 0) calendar.exclude.push_back(day(year) + ".." + day(year + dice.roll(1, 3)));
  for (int left = dice.roll(0, 3); left > 0; --left) calendar.include.push_back(day(year + dice.roll(0, 3)));
  if (dice.roll(0, 1) == 0) {
    calendar.hours[day(year - 1) + ".." + day(year + dice.roll(0, 2))] =
        dice.roll(0, 1) == 0 ? "09:00-12:30" : "06:00-23:00";
  }
  if (dice.roll(0, 3) == 0) {
    calendar.covers = day(year - 1) + ".." + day(year + 2);
    if (dice.roll(0, 1) == 0) calendar.beyond = model::BeyondCover::Hold;
  }
  calendar.time_zone = dice.roll(0, 1) == 0 ? "UTC" : "America/New_York";
  std::erase_if(calendar.exclude, [](const std::string& range) { return range.substr(12) < range.substr(0, 10); });
  return calendar;
}

std::vector<CalendarHistory> dice_histories(plain::Dice& dice, int year) {
  std::vector<CalendarHistory> out;
  for (int left = dice.roll(1, 2); left > 0; --left) {
    CalendarHistory history;
    WallTime from{};
    for (int versions = dice.roll(1, 3); versions > 0; --versions) {
      auto made = compile_calendar(dice_calendar(dice, year), zone_of("America/New_York"));
      if (!made) continue;
      history.push_back({from, std::make_shared<const CompiledCalendar>(std::move(*made))});
      from = std::max(from, at(std::to_string(year) + "-02-01T03:00:00Z")) + Millis{dice.roll(1, 400) * 4'000'000LL};
    }
    if (!history.empty()) out.push_back(std::move(history));
  }
  return out;
}

bool is_open(const DayRules& days, const Ranges& between, const model::ZoneRules& zone, WallTime moment) {
  const std::int64_t local = local_ms_of(zone, moment);
  const std::int64_t clock = local % model::kMillisOfDay;
  const auto has = [clock](const ClockRange& range) { return range.has(clock); };
  return std::ranges::any_of(between, has) && std::ranges::any_of(days.open_on(local / model::kMillisOfDay), has);
}

}  // namespace

TEST_CASE("far search: crons find what a walk over each of their days finds") {
  constexpr const char* kCrons[] = {"0 10 * * *", "30 7 13 * *", "0 23 29 2 *", "15 0 * * SAT", "0 12 1 */3 *"};
  const auto zone = zone_of("Europe/Berlin");
  plain::Dice dice(4711);
  for (int round = 0; round < 300; ++round) {
    const int year = 2020 + dice.roll(0, 20);
    const DayRules days(dice_histories(dice, year), *zone, dice.roll(-1, 1));
    constexpr Otherwise kOthers[] = {Otherwise::Skip, Otherwise::Next, Otherwise::Previous};
    const Otherwise otherwise = kOthers[round % 3];
    const CronExpression cron = cron_of(kCrons[dice.roll(0, 4)]);
    const CalendarTimes times(cron, days, otherwise, kAllDay);
    const std::int64_t begin = second_of(std::to_string(year - 1) + "-06-01T00:00:00Z"), end = begin + 5 * 365 * kDay;
    std::set<std::int64_t> wanted;
    for (auto match = next_local_match(cron, begin - 20 * kDay); match && *match < end + 20 * kDay;
         match = next_local_match(cron, *match + 1)) {
      const auto there = moved_to_open(*match * 1000, days, otherwise);
      if (there && *there / 1000 >= begin && *there / 1000 < end) wanted.insert(*there / 1000);
    }
    std::set<std::int64_t> got;
    for (auto next = times.next(begin); next && *next < end; next = times.next(*next + 1)) got.insert(*next);
    REQUIRE(got == wanted);
  }
}

TEST_CASE("far search: rates and Quartz find what a walk over each of their moments finds") {
  constexpr int kHours[] = {1, 6, 7, 24, 25, 36, 48, 168, 336};
  constexpr const char* kCrons[] = {"0 30 2 ? * *", "0 0 10 ? * SAT", "0 15 0,1,2,3 ? * *", "0 0 12 29 2 ?"};
  const auto zone = zone_of("Europe/Berlin");
  plain::Dice dice(815);
  for (int round = 0; round < 200; ++round) {
    const int year = 2020 + dice.roll(0, 20);
    const DayRules days(dice_histories(dice, year), *zone, dice.roll(-1, 1));
    const Ranges between = dice.roll(0, 1) == 0 ? kAllDay : Ranges{{9 * 3'600'000, 9 * 3'600'000 + 60'000}};
    const OpenMoments moments(days, between, *zone);
    const WallTime begin = at(std::to_string(year - 1) + "-06-01T07:00:00Z"), end = begin + std::chrono::days{4 * 365};
    const std::chrono::hours interval{kHours[dice.roll(0, 8)]};
    std::set<WallTime> wanted, got;
    for (WallTime tick = begin; tick < end; tick += interval) {
      if (is_open(days, between, *zone, tick)) wanted.insert(tick);
    }
    for (auto tick = moments.next_of_rate(begin, interval); tick && *tick < end;
         tick = moments.next_of_rate(*tick + interval, interval)) {
      got.insert(*tick);
    }
    REQUIRE(got == wanted);
    wanted.clear();
    got.clear();
    const CronExpression cron = cron_of(kCrons[dice.roll(0, 3)]);
    for (auto tick = next_as_quartz(cron, *zone, begin); tick && *tick < end; tick = next_as_quartz(cron, *zone, *tick)) {
      if (is_open(days, between, *zone, *tick)) wanted.insert(*tick);
    }
    for (auto tick = moments.next_as_quartz(cron, begin); tick && *tick < end;
         tick = moments.next_as_quartz(cron, *tick)) {
      got.insert(*tick);
    }
    REQUIRE(got == wanted);
  }
}
