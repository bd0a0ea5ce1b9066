// What it costs to enumerate long histories with calendars: as many ticks as plain counting says, in a time
// that is printed. ROTA_VERIFY_DAYS=365 enumerates a year.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <set>

#include "common/time/zones.h"
#include "master/verify/planned_ticks.h"

namespace rota::master::verify::test {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kFirstDay = 20'454;  // 2026-01-01, a Thursday

std::int64_t days_asked() {
  const char* text = std::getenv("ROTA_VERIFY_DAYS");
  return text == nullptr ? 7 : std::atoll(text);
}

model::CalendarRow office(const std::string& zone) {
  model::Calendar out;
  out.name = "office";
  out.time_zone = zone;
  out.days = "mon-fri";
  for (std::int64_t day = kFirstDay; day < kFirstDay + 730; day += 11) {
    out.exclude.push_back(model::day_to_text(model::Day{std::chrono::days{day}}));
  }
  for (std::int64_t day = kFirstDay + 9; day < kFirstDay + 730; day += 31) {
    out.hours[model::day_to_text(model::Day{std::chrono::days{day}})] = "09:30-13:00";
  }
  model::CalendarRow row;
  row.version = 1;
  row.calendar = std::make_shared<const model::Calendar>(std::move(out));
  return row;
}

/// Of that many days in UTC, by looking at each day.
std::int64_t seconds_open(std::int64_t days) {
  std::int64_t out = 0;
  for (std::int64_t day = kFirstDay; day < kFirstDay + days; ++day) {
    const bool is_weekend = (day + 4) % 7 == 0 || (day + 4) % 7 == 6;
    if (is_weekend || (day - kFirstDay) % 11 == 0) continue;
    const bool is_short = (day - kFirstDay) % 31 == 9;
    out += is_short ? 3 * 3600 + 1801 - 1 : kDay;
  }
  return out;
}

struct Enumerated {
  std::int64_t ticks = 0;
  std::chrono::milliseconds took{};
};

Enumerated enumerate(const std::string& line, const std::string& zone, std::int64_t days) {
  model::JobDefinition definition;
  definition.name = "job";
  definition.rules.schedule.kind = model::ScheduleKind::Entries;
  definition.rules.schedule.entries = {line + "; time_zone " + zone};
  model::JobVersionRow version;
  version.valid_from = version.anchor = wall_from_ms(kFirstDay * kDay * 1000 - 1);
  version.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  const WallTime through = wall_from_ms((kFirstDay + days) * kDay * 1000 - 1);
  const auto begun = std::chrono::steady_clock::now();
  auto ticks = PlannedTicks::of(version, timezone::load_zone, through, {},
                                [&](const std::string&, const std::string&) {
                                  return Result<std::vector<model::CalendarRow>>({office(zone)});
                                });
  REQUIRE(ticks);
  Enumerated out;
  while (ticks->next()) ++out.ticks;
  out.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  MESSAGE(line, ", ", days, " days in ", zone, ": ", out.ticks, " ticks in ", out.took.count(), " ms");
  return out;
}

}  // namespace

TEST_CASE("planned ticks: a cron of every second with a calendar costs little, and is whole") {
  const std::int64_t days = days_asked();
  CHECK(enumerate("cron * * * * * *; calendars office", "UTC", days).ticks == seconds_open(days));
  enumerate("cron * * * * * *", "UTC", days);
  enumerate("cron * * * * * *; calendars office", "Europe/Berlin", days);
  enumerate("cron * * * * * *; calendars office; otherwise next", "Europe/Berlin", days);
  enumerate("every 1s; calendars office", "Europe/Berlin", days);
  enumerate("every 100ms; calendars office", "UTC", days);
}

}  // namespace rota::master::verify::test
