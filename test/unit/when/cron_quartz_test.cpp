#include "master/core/time/cron_quartz.h"

#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;

namespace {

CompiledEntry quartz(const std::string& cron, const std::string& zone) {
  model::ScheduleEntry entry = cron_entry(cron, zone);
  entry.is_as_quartz = true;
  return compiled_entry(entry);
}

}  // namespace

TEST_CASE("quartz: a time that spring skips does not fire that day") {
  CHECK(ticks_of(quartz("0 30 2 * * ?", "Europe/Berlin"), "2026-03-27T12:00:00Z", 2) ==
        "2026-03-28T01:30 2026-03-30T00:30");
  CHECK(ticks_of(quartz("0 0/30 * * * ?", "Europe/Berlin"), "2026-03-29T00:15:00Z", 3) ==
        "2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30");
}

TEST_CASE(
    "quartz: of what autumn repeats only the second passage fires, for "
    "any cron") {
  CHECK(ticks_of(quartz("0 30 2 * * ?", "Europe/Berlin"), "2026-10-24T12:00:00Z", 1) == "2026-10-25T01:30");
  CHECK(ticks_of(quartz("0 0/30 * * * ?", "Europe/Berlin"), "2026-10-24T23:15:00Z", 3) ==
        "2026-10-24T23:30 2026-10-25T01:00 2026-10-25T01:30");
}

TEST_CASE("quartz: what fires does not depend on when one asks") {
  CHECK(ticks_of(quartz("0 0/30 * * * ?", "Europe/Berlin"), "2026-10-25T00:40:00Z", 2) ==
        "2026-10-25T01:00 2026-10-25T01:30");
}

TEST_CASE("quartz: calendars close its days too") {
  model::ScheduleEntry entry = cron_entry("0 30 2 * * ?", "Europe/Berlin");
  entry.is_as_quartz = true;
  CHECK(ticks_of(compiled_entry(entry, {weekdays_calendar()}), "2026-03-27T12:00:00Z", 2) ==
        "2026-03-30T00:30 2026-03-31T00:30");
}
