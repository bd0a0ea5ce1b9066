#include "master/core/time/entries.h"

#include <chrono>

#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;
using namespace std::chrono_literals;
using model::ScheduleEntry;

namespace {

ScheduleEntry named(ScheduleEntry entry, const char* name, Millis jitter = Millis{0}) {
  entry.name = name;
  entry.jitter = jitter;
  return entry;
}

CompiledEntries compiled(const std::vector<ScheduleEntry>& entries,
                         const std::vector<model::Calendar>& calendars = {}) {
  std::vector<CompiledEntry> out;
  for (const ScheduleEntry& entry : entries) out.push_back(compiled_entry(entry, calendars));
  return CompiledEntries(std::move(out));
}

std::string names(const CompiledEntries& entries, const char* tick) {
  std::string out;
  for (const std::string& name : entries.names_at(at(tick))) out += (out.empty() ? "" : ",") + name;
  return out;
}

}  // namespace

TEST_CASE("entries: moments of several are one tick, named by all") {
  const auto entries =
      compiled({named(cron_entry("0 * * * *"), "hourly"), cron_entry("0 9 * * *", "Europe/Berlin"),
                named(every_entry(30min), "half")});
  CHECK(ticks_of(entries, "2026-02-13T07:10:00Z", 4) ==
        "2026-02-13T07:30 2026-02-13T08:00 2026-02-13T08:30 2026-02-13T09:00");
  CHECK(names(entries, "2026-02-13T07:30:00Z") == "half");
  CHECK(names(entries, "2026-02-13T08:00:00Z") == "hourly,2,half");
  CHECK(names(entries, "2026-02-13T09:00:00Z") == "hourly,half");
  CHECK(names(entries, "2026-02-13T09:10:00Z").empty());
}

TEST_CASE("entries: counting agrees with stepping, equal moments once") {
  const auto entries = compiled({cron_entry("*/7 * * * *"), cron_entry("*/5 * * * *"), every_entry(90s)});
  const auto from = at("2026-02-13T07:10:00Z");
  const auto through = from + 5h;
  std::int64_t stepped = 0;
  for (auto tick = entries.next_after(from); tick && *tick <= through; tick = entries.next_after(*tick))
    ++stepped;
  CHECK(stepped > 200);
  CHECK(entries.count_between(from, through) == stepped);
  CHECK(entries.count_between(from, through, 17) == 17);
}

TEST_CASE(
    "entries: the smallest jitter of the entries that are due moves the "
    "start") {
  const auto entries =
      compiled({named(cron_entry("0 * * * *"), "a", 10min), named(every_entry(30min), "b", 1min)});
  const std::uint64_t hash = job_hash("default", "test");
  const Millis wide = jitter_of(hash, 10min), narrow = jitter_of(hash, 1min);
  CHECK(entries.jitter_at(at("2026-02-13T08:00:00Z"), hash) == std::min(wide, narrow));
  CHECK(entries.jitter_at(at("2026-02-13T08:30:00Z"), hash) == narrow);
  const auto turned = compiled({named(every_entry(30min), "b", 1min), named(cron_entry("0 * * * *"), "a", 10min)});
  CHECK(turned.jitter_at(at("2026-02-13T08:00:00Z"), hash) == std::min(wide, narrow));
}

TEST_CASE("entries: problems name their place") {
  std::vector<ScheduleEntry> entries(17, named(every_entry(1s), "same"));
  entries[0].interval = Millis{1};
  const auto problems = entries_problems(entries);
  REQUIRE(problems.size() == 18);
  CHECK(problems[0] == "schedule: 17 entries, at most 16 are allowed");
  CHECK(problems[1] ==
        "schedule[0].every: 1ms is out of range; write a duration from 100ms to 3660d");
  CHECK(problems[2] ==
        "schedule[1].name: \"same\" is the name of another entry too; give each a name of its own");
}

TEST_CASE("entries: what can never fire says why") {
  model::Calendar calendar = weekdays_calendar();
  const auto now = at("2026-01-01T00:00:00Z");
  CHECK(why_never(compiled({cron_entry("0 9 * * 0"), cron_entry("0 9 * * *")}, {calendar}), now) ==
        "schedule[0] can never fire: none of its moments "
        "lies on a day and at a time that its calendars and "
        "`between` leave open; change one of them");
  ScheduleEntry ended = cron_entry("0 9 * * *");
  ended.end = at("2025-06-01T00:00:00Z");
  CHECK(why_never(compiled({ended}), now) == "schedule[0] can never fire: it has no moment from now on");
  ScheduleEntry outside = cron_entry("0 9 * * *");
  outside.between = "10:00-11:00";
  CHECK_FALSE(why_never(compiled({outside}), now).empty());
  CHECK(why_never(compiled({cron_entry("0 9 * * 1")}, {calendar}), now).empty());
  ScheduleEntry delay = every_entry(10min);
  delay.kind = model::EntryKind::AfterEnd;
  CHECK(why_never(compiled({delay}), now).empty());
}
