// Hours of a calendar, and last moments, where the clocks of a zone change.
#include "master/core/time/zone_hours.h"

#include <algorithm>
#include <random>

#include "common/model/day_text.h"
#include "master/core/time/local_times.h"
#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;

namespace {

constexpr std::int64_t kMinute_ms = 60'000;

std::string ticks_from(const CompiledEntry& entry, const std::string& after, int count) {
  std::string out;
  auto moment = entry.next_after(at(after));
  for (int i = 0; i < count && moment; ++i, moment = entry.next_after(*moment)) {
    out += (out.empty() ? "" : " ") + short_text(*moment);
  }
  return out;
}

}  // namespace

TEST_CASE("hours: those of another zone hold each minute whose first moment they hold") {
  const char* zones[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland", "UTC"};
  const char* changes[] = {"2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z", "2026-11-01T00:00:00Z", "2026-03-08T00:00:00Z",
                           "2026-04-04T12:00:00Z", "2026-10-03T12:00:00Z", "2026-09-26T12:00:00Z"};
  std::mt19937_64 dice(3);
  const auto pick = [&](std::int64_t size) { return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(size)); };
  int held = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto here = zone_of(zones[pick(5)]), there = zone_of(zones[pick(5)]);
    const std::int64_t begin = to_ms(at(changes[pick(7)])) - 6 * 60 * kMinute_ms;
    LocalSpan hours;
    hours.from_ms = begin + pick(24 * 60) * kMinute_ms;
    hours.to_ms = hours.from_ms + (1 + pick(300)) * kMinute_ms;
    const auto told = told_in_zone(*there, hours, *here);
    for (std::size_t i = 1; i < told.size(); ++i) REQUIRE(told[i - 1].to_ms < told[i].from_ms);
    for (std::int64_t local = begin - 86'400'000; local < begin + 3 * std::int64_t{86'400'000}; local += 5 * kMinute_ms) {
      const std::int64_t clock = local_ms_of(*there, moment_of_local(*here, local));
      const bool is_in = clock >= hours.from_ms && clock < hours.to_ms;
      const bool is_told = std::ranges::any_of(
          told, [&](const LocalSpan& span) { return local >= span.from_ms && local < span.to_ms; });
      REQUIRE(is_told == is_in);
      held += is_in ? 1 : 0;
    }
  }
  CHECK(held > 10'000);
}

TEST_CASE("hours: of a calendar in another zone do not begin half an hour early where the entry's clocks go back") {
  model::Calendar berlin = weekdays_calendar("berlin");
  berlin.days = "mon-sun";
  berlin.time_zone = "Europe/Berlin";
  berlin.hours = {{"2027-04-03", "17:00-17:40"}};  // from 15:00 UTC on, when 02:00 becomes 01:30 on Lord Howe
  model::ScheduleEntry entry = every_entry(std::chrono::minutes{10}, "Australia/Lord_Howe");
  entry.day = -1;
  // The local times from 01:30 to 02:00 had come before, when it was not yet 17:00 in Berlin.
  CHECK(ticks_from(compiled_entry(entry, {berlin}), "2027-04-03T14:00:00Z", 3) ==
        "2027-04-03T15:30 2027-04-03T15:40 2027-04-04T13:30");
}

TEST_CASE("summer time: the last moment of all fires also where it is the second of two") {
  model::Calendar once = weekdays_calendar("once");
  once.covers = "2027-10-31..2027-10-31";
  once.beyond = model::BeyondCover::Hold;
  once.include = {"2027-10-31"};
  model::ScheduleEntry entry = cron_entry("23 2 * * *", "Europe/Berlin");
  entry.repeated_time = model::RepeatedTime::Second;
  const auto compiled = compiled_entry(entry, {once});
  CHECK(ticks_from(compiled, "2027-10-01T00:00:00Z", 2) == "2027-10-31T01:23");
  CHECK(compiled.count_between(at("2027-10-01T00:00:00Z"), at("2027-12-01T00:00:00Z"), 9) == 1);
}
