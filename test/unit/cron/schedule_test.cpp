#include "master/core/time/schedule.h"

#include "common/model/schedule_text.h"
#include "test/unit/cron/cron_cases.h"

using namespace rota;
using namespace rota::master::core;
using namespace std::chrono_literals;
using model::Schedule;
using model::ScheduleKind;

namespace {

CompiledSchedule compiled(const Schedule& schedule, WallTime anchor = at("2026-01-01T00:00:00Z")) {
  auto result = compile(schedule, zone_of(schedule.time_zone), anchor);
  if (!result) FAIL(result.error().message);
  return *result;
}

Schedule every(Millis interval) {
  Schedule schedule;
  schedule.kind = ScheduleKind::FixedRate;
  schedule.interval = interval;
  return schedule;
}

Schedule of_text(const char* text) {
  auto schedule = model::schedule_from_text(text);
  if (!schedule) FAIL(schedule.error().message);
  return *schedule;
}

}  // namespace

TEST_CASE("schedule: none never fires") {
  const auto schedule = compiled({});
  CHECK_FALSE(schedule.next_after(at("2026-01-01T00:00:00Z")));
  CHECK(schedule.count_between(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")) == 0);
}

TEST_CASE("schedule: a fixed rate first fires one interval after its anchor") {
  const auto schedule = compiled(every(90min));
  CHECK(ticks_of(schedule, "2025-06-01T00:00:00Z", 3) ==
        "2026-01-01T01:30 2026-01-01T03:00 2026-01-01T04:30");
  CHECK(ticks_of(schedule, "2026-01-01T03:00:00Z", 1) == "2026-01-01T04:30");
  CHECK(ticks_of(schedule, "2026-01-01T02:59:59.999Z", 1) == "2026-01-01T03:00");
}

TEST_CASE("schedule: a fixed rate with a start fires at the start") {
  Schedule rule = every(90min);
  rule.start = at("2026-01-01T00:10:00Z");
  const auto schedule = compiled(rule, *rule.start);
  CHECK(ticks_of(schedule, "2025-06-01T00:00:00Z", 2) == "2026-01-01T00:10 2026-01-01T01:40");
}

TEST_CASE("schedule: a fixed rate keeps its anchor when its start is moved") {
  Schedule rule = every(60min);
  rule.start = at("2026-01-01T05:10:00Z");
  CHECK(ticks_of(compiled(rule), "2025-06-01T00:00:00Z", 2) == "2026-01-01T06:00 2026-01-01T07:00");
}

TEST_CASE("schedule: once fires once") {
  Schedule rule;
  rule.kind = ScheduleKind::Once;
  rule.start = at("2026-01-01T05:10:00Z");
  const auto schedule = compiled(rule);
  CHECK(ticks_of(schedule, "2025-06-01T00:00:00Z", 3) == "2026-01-01T05:10");
  CHECK(ticks_of(schedule, "2026-01-01T05:10:00Z", 3).empty());
  CHECK(schedule.count_between(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")) == 1);
}

TEST_CASE("schedule: start and end hold for crons, both included") {
  Schedule rule = of_text("0 12 * * *");
  rule.start = at("2026-01-03T12:00:00Z");
  rule.end = at("2026-01-05T12:00:00Z");
  const auto schedule = compiled(rule);
  CHECK(ticks_of(schedule, "2025-06-01T00:00:00Z", 9) ==
        "2026-01-03T12:00 2026-01-04T12:00 2026-01-05T12:00");
  CHECK(schedule.count_between(at("2025-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")) == 3);
}

TEST_CASE("schedule: macros are crons in the zone of the job") {
  Schedule rule = of_text("@daily");
  rule.time_zone = "Europe/Berlin";
  CHECK(ticks_of(compiled(rule), "2026-03-28T00:00:00Z", 3) ==
        "2026-03-28T23:00 2026-03-29T22:00 2026-03-30T22:00");
  CHECK(ticks_of(compiled(of_text("@hourly")), "2026-03-28T00:00:00Z", 1) == "2026-03-28T01:00");
  CHECK(ticks_of(compiled(of_text("@weekly")), "2026-01-01T00:00:00Z", 1) == "2026-01-04T00:00");
  CHECK(ticks_of(compiled(of_text("@monthly")), "2026-01-01T00:00:00Z", 1) == "2026-02-01T00:00");
  CHECK(ticks_of(compiled(of_text("@yearly")), "2026-01-01T00:00:00Z", 1) == "2027-01-01T00:00");
  CHECK(ticks_of(compiled(of_text("@every 1h30m")), "2026-01-01T00:00:00Z", 1) == "2026-01-01T01:30");
}

TEST_CASE("schedule: counting agrees with stepping") {
  Schedule started = every(700ms);
  started.start = at("2026-01-01T00:00:00Z");
  Schedule ended = every(1s);
  ended.end = at("2026-01-01T00:00:30Z");
  const auto from = at("2025-12-31T23:59:58Z");
  for (const Schedule& rule : {every(700ms), started, ended, of_text("*/7 * * * * *")}) {
    const auto schedule = compiled(rule);
    for (int seconds = 0; seconds < 90; seconds += 7) {
      const auto after = from + std::chrono::seconds{seconds / 2};
      const auto through = from + std::chrono::seconds{seconds} + 300ms;
      std::int64_t stepped = 0;
      std::optional<WallTime> last;
      for (auto tick = schedule.next_after(after); tick && *tick <= through;
           tick = schedule.next_after(*tick)) {
        ++stepped;
        last = tick;
      }
      CHECK(schedule.count_between(after, through) == stepped);
      CHECK(schedule.last_between(after, through) == last);
    }
  }
}

TEST_CASE("schedule: counting a hundred years of a fixed rate is arithmetic") {
  const auto schedule = compiled(every(100ms));
  CHECK(schedule.count_between(at("2026-01-01T00:00:00Z"), at("2126-01-01T00:00:00Z"), INT64_MAX) ==
        36524ll * 864'000);
}

TEST_CASE("schedule: a cron is counted as it is stepped, also over changes of its zone") {
  struct Pair {
    const char* cron;
    const char* zone;
  };
  for (const Pair& pair : {Pair{"*/10 * * * *", "Europe/Berlin"},
                           {"30 2 * * *", "Europe/Berlin"},
                           {"15,45 1-2 * * *", "Australia/Lord_Howe"},
                           {"0 9 * * *", "Pacific/Apia"},
                           {"0 0 13 * 5", "America/New_York"},
                           {"0 0 0 LW * ?", "Asia/Tehran"}}) {
    const std::string text = pair.cron;
    CAPTURE(text);
    for (const auto repeated :
         {model::RepeatedTime::First, model::RepeatedTime::Second, model::RepeatedTime::Both}) {
      Schedule rule = of_text(pair.cron);
      rule.time_zone = pair.zone;
      rule.repeated_time = repeated;
      const auto schedule = compiled(rule);
      const auto begin = at("2011-01-05T13:07:21.5Z");
      std::int64_t stepped = 0;
      auto tick = schedule.next_after(begin);
      for (int days = 0; days < 800; days += 37) {
        const auto through = begin + std::chrono::hours{24 * days + days % 24};
        for (; tick && *tick <= through; tick = schedule.next_after(*tick)) ++stepped;
        CHECK(schedule.count_between(begin, through) == stepped);
        CHECK(schedule.count_between(begin, through, 5) == std::min<std::int64_t>(stepped, 5));
      }
    }
  }
}

TEST_CASE("schedule: counting may begin inside of what is repeated") {
  Schedule rule = of_text("30 2 * * *");
  rule.time_zone = "Europe/Berlin";
  // The second 02:30 of 25 October, at 01:30 UTC, is no tick.
  CHECK(compiled(rule).count_between(at("2026-10-25T01:10:00Z"), at("2026-10-26T12:00:00Z")) == 1);
}

TEST_CASE("schedule: counting ends where the calendar of crons ends") {
  const auto schedule = compiled(of_text("0 0 31 12 *"));
  CHECK(schedule.count_between(wall_from_ms(-5'000), at("9999-01-01T00:00:00Z")) == 230);
}

TEST_CASE("schedule: the last tick of a long time is found without stepping through it") {
  const auto cron = compiled(of_text("* * * * * *"));
  CHECK(cron.last_between(at("1971-01-01T00:00:00Z"), at("2026-01-01T00:00:00.5Z")) ==
        at("2026-01-01T00:00:00Z"));
  const auto rare = compiled(of_text("0 0 29 2 *"));
  CHECK(rare.last_between(at("1971-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")) ==
        at("2024-02-29T00:00:00Z"));
  CHECK_FALSE(rare.last_between(at("2025-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")));
}

TEST_CASE("schedule: problems are explained for people") {
  Schedule backwards = of_text("0 12 * * 9");
  backwards.start = at("2026-01-03T12:00:00Z");
  backwards.end = at("2026-01-02T12:00:00Z");
  const auto problems = validate_schedule(backwards);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0] == "cron '0 12 * * 9': column 10, day of week: 9 is out of range (0 to 7)");
  CHECK(problems[1] == "`end` lies before `start`");
  CHECK(validate_schedule(every(99ms)).front() ==
        "an interval of 99 ms is too short; at least 100 ms");
  CHECK(validate_schedule(every(Millis::max())).size() == 1);  // its next tick would overflow
  Schedule once;
  once.kind = ScheduleKind::Once;
  CHECK(validate_schedule(once).size() == 1);
  CHECK_FALSE(compile(once, nullptr, {}));
  CHECK_FALSE(compile(of_text("0 12 * * *"), nullptr, {}));
  CHECK(validate_schedule({}).empty());
}

TEST_CASE("schedule text: reads and writes one line") {
  CHECK(of_text(" @every 500ms ").interval == 500ms);
  CHECK(of_text("0 12 * * *").cron == "0 12 * * *");
  CHECK(model::schedule_to_text(of_text("@every 90m")) == "@every 1h30m");
  CHECK(model::schedule_to_text(of_text("@daily")) == "@daily");
  for (const char* text : {"", "  ", "@sometimes", "@every", "@every 5", "@dailyy"}) {
    CAPTURE(text);
    CHECK_FALSE(model::schedule_from_text(text));
  }
}
