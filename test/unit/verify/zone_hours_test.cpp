// What verify counts where a calendar's hours are told by another clock than the entry's times.
#include <doctest/doctest.h>

#include <random>

#include <fmt/format.h>

#include "common/time/zones.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/schedule.h"
#include "master/verify/planned_ticks.h"

namespace rota::master::verify::test {
namespace {

model::JobVersionRow version_with(const std::string& line, WallTime from) {
  model::JobDefinition definition;
  definition.name = "job";
  definition.rules.schedule.kind = model::ScheduleKind::Entries;
  definition.rules.schedule.entries = {line};
  model::JobVersionRow out;
  out.valid_from = out.anchor = from;
  out.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  return out;
}

}  // namespace

TEST_CASE("planned ticks: hours in another zone agree with the leader's where clocks go back or on") {
  const char* kinds[] = {"every 7m", "cron */10 * * * *", "cron 0,20,30,45 1-3 * * *"};
  const char* zones[] = {"Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "Pacific/Auckland"};
  const char* rules[] = {"", "; repeated_time both", "; repeated_time second", "; skipped_time skip"};
  // Hours before a change of one of the zones.
  const std::int64_t changes[] = {1'774'746'000, 1'775'314'800, 1'790'436'000, 1'791'039'600, 1'792'890'000,
                                  1'793'512'800, 1'806'764'400};
  std::mt19937_64 dice(5);
  const auto pick = [&](std::size_t size) { return static_cast<std::size_t>(dice() % size); };
  std::size_t compared = 0;
  for (int round = 0; round < 1000; ++round) {
    const WallTime from = wall_from_ms((changes[pick(7)] - 86'400) * 1000);
    const WallTime through = from + std::chrono::hours{48};
    model::Calendar calendar;
    calendar.name = "a";
    calendar.time_zone = zones[pick(4)];
    for (int far = 0; far < 4; ++far) {
      const model::Day day = std::chrono::floor<std::chrono::days>(from) + std::chrono::days{far - 1};
      const std::size_t begin = pick(19), length = 1 + pick(4), quarter = 15 * pick(4);
      calendar.hours[model::day_to_text(day)] = fmt::format("{:02}:{:02}-{:02}:{:02}", begin, quarter, begin + length, quarter);
    }
    const std::size_t kind = pick(3);
    const std::string line = fmt::format("{}; time_zone {}{}; calendars a{}", kinds[kind], zones[pick(4)],
                                         kind == 0 ? "" : rules[pick(4)], pick(3) == 0 ? "; day -1" : "");
    auto compiled_calendar = core::compile_calendar(calendar, *timezone::load_zone(calendar.time_zone));
    REQUIRE(compiled_calendar);
    auto history = std::make_shared<core::CalendarHistory>();
    history->push_back({WallTime{}, std::make_shared<const core::CompiledCalendar>(std::move(*compiled_calendar))});
    const auto version = version_with(line, from);
    const auto needed = store::zones_of(version.definition->rules.schedule, timezone::load_zone);
    REQUIRE(needed);
    const auto compiled = core::compile(version.definition->rules.schedule, *needed, version.anchor,
                                        core::job_hash("default", "job"), [&](std::string_view) { return history; });
    REQUIRE(compiled);
    auto ticks = PlannedTicks::of(version, timezone::load_zone, through, {}, [&](const std::string&, const std::string&) {
      model::CalendarRow row;
      row.version = 1;
      row.calendar = std::make_shared<const model::Calendar>(calendar);
      return Result<std::vector<model::CalendarRow>>(std::vector{row});
    });
    REQUIRE(ticks);
    CAPTURE(line);
    CAPTURE(calendar.time_zone);
    for (auto tick = compiled->next_after(from); tick && *tick <= through; tick = compiled->next_after(*tick)) {
      REQUIRE(ticks->next() == tick);
      ++compared;
    }
    REQUIRE(ticks->next() == std::nullopt);
  }
  CHECK(compared > 5'000);
}

}  // namespace rota::master::verify::test
