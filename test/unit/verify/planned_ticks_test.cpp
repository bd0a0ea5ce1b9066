#include "master/verify/planned_ticks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

#include "history.h"
#include "common/time/zones.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/schedule.h"

namespace rota::master::verify::test {
namespace {

std::vector<WallTime> all(const model::JobVersionRow& version, WallTime through) {
  const auto zones = [](std::string_view) {
    return Result<std::shared_ptr<const model::ZoneRules>>(
        std::make_shared<const model::ZoneRules>());
  };
  auto ticks = PlannedTicks::of(version, zones, through);
  REQUIRE(ticks);
  std::vector<WallTime> out;
  while (const auto tick = ticks->next()) out.push_back(*tick);
  CHECK_FALSE(ticks->next());
  return out;
}

model::JobVersionRow version_of(const model::Schedule& schedule) {
  model::JobDefinition definition;
  definition.name = "job";
  definition.rules.schedule = schedule;
  model::JobVersionRow out;
  out.valid_from = kStart;
  out.anchor = kStart;
  out.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  return out;
}

}  // namespace

TEST_CASE("planned ticks: a fixed rate counts from its anchor") {
  model::Schedule schedule;
  schedule.kind = model::ScheduleKind::FixedRate;
  schedule.interval = std::chrono::seconds{10};
  auto version = version_of(schedule);
  CHECK(all(version, at(30)) == std::vector{at(10), at(20), at(30)});
  version.valid_from = at(15);
  version.valid_to = at(39);
  CHECK(all(version, at(100)) == std::vector{at(20), at(30)});
  version.enabled = false;
  CHECK(all(version, at(100)).empty());
}

TEST_CASE("planned ticks: with a start the anchor is the first tick, and the end is the last") {
  model::Schedule schedule;
  schedule.kind = model::ScheduleKind::FixedRate;
  schedule.interval = std::chrono::seconds{10};
  schedule.start = at(5);
  schedule.end = at(25);
  auto version = version_of(schedule);
  version.anchor = at(5);
  CHECK(all(version, at(100)) == std::vector{at(5), at(15), at(25)});
}

TEST_CASE("planned ticks: once is once, and only while the version is valid") {
  model::Schedule schedule;
  schedule.kind = model::ScheduleKind::Once;
  schedule.start = at(7);
  CHECK(all(version_of(schedule), at(100)) == std::vector{at(7)});
  CHECK(all(version_of(schedule), at(6)).empty());
  schedule.start = at(0);
  CHECK(all(version_of(schedule), at(100)).empty());
}

TEST_CASE("planned ticks: agree with the leader's schedule on random schedules") {
  std::mt19937_64 dice(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(high - low + 1));
  };
  const char* crons[] = {"* * * * *", "*/7 3 * * 1-5", "15 */10 * * * *", "@hourly", "0 0 1 * *"};
  for (int round = 0; round < 400; ++round) {
    model::Schedule schedule;
    schedule.kind = static_cast<model::ScheduleKind>(pick(0, 3));
    schedule.interval = Millis{pick(100, 40'000)};
    schedule.cron = crons[pick(0, 4)];
    if (pick(0, 1) == 1 || schedule.kind == model::ScheduleKind::Once) {
      schedule.start = kStart + Millis{pick(-50'000, 150'000)};
    }
    if (pick(0, 2) == 0) schedule.end = kStart + Millis{pick(150'000, 400'000)};
    auto version = version_of(schedule);
    version.anchor = schedule.start.value_or(kStart - Millis{pick(0, 100'000)});
    version.valid_from = kStart + Millis{pick(0, 50'000)};
    const WallTime through = kStart + Millis{pick(50'000, 500'000)};
    const auto compiled = core::compile(schedule, std::make_shared<const model::ZoneRules>(),
                                        version.anchor);
    REQUIRE(compiled);
    std::vector<WallTime> expected;
    for (auto tick = compiled->next_after(version.valid_from); tick && *tick <= through;
         tick = compiled->next_after(*tick)) {
      expected.push_back(*tick);
    }
    CHECK(all(version, through) == expected);
  }
}

namespace {

model::Calendar random_calendar(std::mt19937_64& dice, const std::string& name) {
  const auto pick = [&](std::uint64_t size) { return static_cast<int>(dice() % size); };
  const char* weeks[] = {"mon-fri", "mon-sun", "sat,sun", "mon,wed,fri-sat"};
  const char* zones[] = {"UTC", "Europe/Berlin", "America/New_York"};
  model::Calendar out;
  out.name = name;
  out.days = weeks[pick(4)];
  out.time_zone = zones[pick(3)];
  const auto day = [&] { return model::day_to_text(*model::day_from_text("2026-03-10") + std::chrono::days{pick(50)}); };
  for (int left = pick(6); left > 0; --left) out.exclude.push_back(day());
  for (int left = pick(4); left > 0; --left) out.include.push_back(day());
  if (pick(3) == 0) out.hours[day()] = "01:30-13:00";
  if (pick(4) == 0) out.covers = "2026-03-15..2026-04-10";
  if (!out.covers.empty() && pick(2) == 0) out.beyond = model::BeyondCover::Hold;
  return out;
}

}  // namespace

TEST_CASE("planned ticks: agree with the leader's schedule on random calendars, across their edits") {
  const char* kinds[] = {"cron 0 9 * * *", "cron 30 2 * * *", "cron 0 0,30 1-3 * * ?", "cron 0 12 15 * *",
                         "every 50m; start 2026-03-27T00:00:00Z", "working_day -1; time 18:00", "working_day 3",
                         "at 2026-03-29T10:00:00Z"};
  const char* moves[] = {"", "; otherwise next", "; otherwise previous"};
  const char* zones[] = {"UTC", "Europe/Berlin", "America/New_York"};
  const store::ZoneSource source = timezone::load_zone;
  std::mt19937_64 dice(7);
  const auto pick = [&](std::size_t size) { return static_cast<std::size_t>(dice() % size); };
  std::size_t compared = 0, moved = 0, edited_away = 0;
  for (int round = 0; round < 1500; ++round) {
    std::map<std::string, std::vector<model::CalendarRow>> stored;
    std::map<std::string, core::CalendarHistoryPtr> known;
    for (const char* name : {"a", "b"}) {
      auto history = std::make_shared<core::CalendarHistory>();
      WallTime from = wall_from_ms(1'770'000'000'000);
      const std::size_t apart = pick(2) == 0 ? 20 : 3;  // days between edits
      for (std::size_t left = 1 + pick(4); left > 0; --left) {
        model::CalendarRow row;
        row.version = static_cast<std::int32_t>(stored[name].size() + 1);
        row.from = row.changed = from;
        row.calendar = std::make_shared<const model::Calendar>(random_calendar(dice, name));
        auto compiled = core::compile_calendar(*row.calendar, *source(row.calendar->time_zone));
        if (!compiled) continue;
        history->push_back({from, std::make_shared<const core::CompiledCalendar>(std::move(*compiled))});
        stored[name].push_back(std::move(row));
        from = wall_from_ms(1'773'600'000'000 + static_cast<std::int64_t>(pick(apart * 86'400)) * 1000 +
                            static_cast<std::int64_t>(stored[name].size() * apart) * 86'400'000);
      }
      if (!history->empty()) known[name] = history;
    }
    if (known.size() < 2) continue;
    const std::size_t kind = pick(8);
    const bool may_move = kinds[kind][0] == 'c' || kinds[kind][0] == 'a';
    std::string line = kinds[kind];
    line += std::string("; time_zone ") + zones[pick(3)] + (pick(3) == 0 ? "; calendars a,b" : "; calendars a");
    const std::size_t move = may_move ? pick(3) : 0;
    line += moves[move];
    if (kinds[kind][0] == 'c' && pick(6) == 0) line += "; day -1";
    model::Schedule schedule;
    schedule.kind = model::ScheduleKind::Entries;
    schedule.entries = {line};
    auto version = version_of(schedule);
    version.anchor = wall_from_ms(1'774'000'000'000);
    version.valid_from = wall_from_ms(1'773'300'000'000);
    const WallTime through = version.valid_from + std::chrono::hours{24 * 45};
    const auto needed = store::zones_of(schedule, source);
    REQUIRE(needed);
    const auto compiled = core::compile(schedule, *needed, version.anchor, core::job_hash("default", "job"),
                                        [&](std::string_view name) { return known[std::string(name)]; });
    CAPTURE(line);
    CAPTURE(round);
    if (!compiled) continue;  // what no entry of that kind may say
    std::vector<WallTime> expected, found;
    for (auto tick = compiled->next_after(version.valid_from); tick && *tick <= through;
         tick = compiled->next_after(*tick)) {
      expected.push_back(*tick);
    }
    auto ticks = PlannedTicks::of(version, source, through, {}, [&](const std::string&, const std::string& name) {
      return Result<std::vector<model::CalendarRow>>(stored[name]);
    });
    REQUIRE(ticks);
    while (const auto tick = ticks->next()) found.push_back(*tick);
    CHECK(found == expected);
    compared += expected.size();
    moved += move > 0 ? expected.size() : 0;
    std::vector<WallTime> away, away_found;
    for (auto at = compiled->next_edited_away(version.valid_from); at && *at <= through;
         at = compiled->next_edited_away(*at)) {
      away.push_back(*at);
    }
    std::ranges::set_difference(ticks->edited_away(), expected, std::back_inserter(away_found));
    CHECK(away_found == away);
    edited_away += away.size();
  }
  MESSAGE("ticks compared: ", compared, ", of entries that move them: ", moved, ", edited away: ", edited_away);
  CHECK(compared > 10'000);
  CHECK(moved > 2'000);
  CHECK(edited_away > 100);
}

TEST_CASE("planned ticks: agree with the leader's schedule on random entries, around changes of zones") {
  const char* kinds[] = {"cron */10 * * * *", "cron 30 2 * * *", "cron H H(0-3) * * *", "cron 0 15,45 1-2 ? * SUN",
                         "every 7m", "every 50m; start 2026-03-27T00:00:00Z", "working_day -1; time 02:30",
                         "working_day 3", "at 2026-03-29T01:30:00.250Z", "cron 15 2 * * 0"};
  const char* ranges[] = {"", "; between 02:00-02:45", "; between 22:00-03:30", "; between 09:30-16:00"};
  const char* zones[] = {"Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "UTC"};
  const char* rules[] = {"", "; skipped_time skip", "; repeated_time both", "; repeated_time second"};
  const store::ZoneSource source = timezone::load_zone;
  std::mt19937_64 dice(11);
  const auto pick = [&](std::size_t size) { return static_cast<std::size_t>(dice() % size); };
  std::size_t compared = 0;
  for (int round = 0; round < 250; ++round) {
    model::Schedule schedule;
    schedule.kind = model::ScheduleKind::Entries;
    for (std::size_t left = 1 + pick(3); left > 0; --left) {
      const std::size_t kind = pick(10);
      const bool is_cron = kinds[kind][0] == 'c';
      const bool takes_range = is_cron || kinds[kind][0] == 'e';
      std::string line = kinds[kind];
      line += takes_range ? ranges[pick(4)] : "";
      line += std::string("; time_zone ") + zones[pick(4)];
      line += is_cron && pick(5) == 0 ? "; skipped_time quartz" : rules[pick(4)];
      schedule.entries.push_back(line);
    }
    auto version = version_of(schedule);
    version.anchor = wall_from_ms(1'774'000'000'000);
    const std::int64_t changes[] = {1'774'500'000'000, 1'792'700'000'000, 1'775'200'000'000, 1'772'800'000'000};
    version.valid_from = wall_from_ms(changes[pick(4)]);
    const WallTime through = version.valid_from + std::chrono::hours{24 * 8};
    const auto needed = store::zones_of(schedule, source);
    REQUIRE(needed);
    const auto compiled = core::compile(schedule, *needed, version.anchor, core::job_hash("default", "job"));
    REQUIRE(compiled);
    std::vector<WallTime> expected, found;
    for (auto tick = compiled->next_after(version.valid_from); tick && *tick <= through;
         tick = compiled->next_after(*tick)) {
      expected.push_back(*tick);
    }
    auto ticks = PlannedTicks::of(version, source, through);
    REQUIRE(ticks);
    while (const auto tick = ticks->next()) found.push_back(*tick);
    CAPTURE(schedule.entries.front());
    CAPTURE(schedule.entries.back());
    CAPTURE(schedule.entries.size());
    CHECK(found == expected);
    compared += expected.size();
  }
  MESSAGE("ticks compared: ", compared);
  CHECK(compared > 20'000);
}

TEST_CASE("planned ticks: a stored schedule that cannot be read is corrupt") {
  model::Schedule schedule;
  schedule.kind = model::ScheduleKind::Cron;
  schedule.cron = "nonsense";
  CHECK_FALSE(PlannedTicks::of(version_of(schedule), {}, at(1)));
  schedule.kind = model::ScheduleKind::FixedRate;
  schedule.interval = Millis{0};
  CHECK_FALSE(PlannedTicks::of(version_of(schedule), {}, at(1)));
}

}  // namespace rota::master::verify::test
