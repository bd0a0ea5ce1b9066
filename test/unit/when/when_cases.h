// What the tests of schedule entries share: making calendars and entries,
// asking for their next moments.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/model/schedule_text.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/entries.h"
#include "test/unit/cron/cron_cases.h"

namespace rota::master::core {

inline CalendarPtr calendar_of(const model::Calendar& calendar) {
  auto compiled = compile_calendar(calendar, zone_of(calendar.time_zone));
  if (!compiled) FAIL(compiled.error().message);
  return std::make_shared<const CompiledCalendar>(std::move(*compiled));
}

inline model::Calendar weekdays_calendar(const std::string& name = "cn") {
  model::Calendar calendar;
  calendar.name = name;
  calendar.days = "mon-fri";
  return calendar;
}

inline model::ScheduleEntry cron_entry(const std::string& cron, const std::string& zone = "UTC") {
  model::ScheduleEntry entry;
  entry.kind = model::EntryKind::Cron;
  entry.cron = cron;
  entry.time_zone = zone;
  return entry;
}

inline model::ScheduleEntry every_entry(Millis interval, const std::string& zone = "UTC") {
  model::ScheduleEntry entry;
  entry.kind = model::EntryKind::Every;
  entry.interval = interval;
  entry.time_zone = zone;
  return entry;
}

/// An entry with calendars of one version each, whatever their names are.
inline CompiledEntry compiled_entry(model::ScheduleEntry entry,
                                    const std::vector<model::Calendar>& calendars = {},
                                    WallTime anchor = at("2026-01-01T00:00:00Z")) {
  EntryParts parts{zone_of(entry.time_zone), {}};
  for (const model::Calendar& calendar : calendars) {
    parts.calendars.push_back({{WallTime{}, calendar_of(calendar)}});
    entry.calendars.push_back(calendar.name);
  }
  auto compiled = compile_entry(entry, parts, anchor, job_hash("default", "test"));
  if (!compiled) FAIL(compiled.error().message);
  return *compiled;
}

}  // namespace rota::master::core
