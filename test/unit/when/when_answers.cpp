// Answers questions about schedule entries, one JSON object a line, for tests
// that compare with other programs:
//   {"cron": "...", "zone": "...", "after": MS, "count": N, ...}  ->  [MS,
//   ...], or "what is wrong"
// Other keys are those of ScheduleEntry; `calendars` is a list of calendars.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/time/zones.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/entry.h"

using namespace rota;
using namespace rota::master::core;
using Json = nlohmann::json;

namespace {

Result<model::ScheduleEntry> entry_of(const Json& json) {
  model::ScheduleEntry entry;
  const std::string kind = json.value("kind", "cron");
  if (kind == "every") entry.kind = model::EntryKind::Every;
  if (kind == "working_day") entry.kind = model::EntryKind::WorkingDay;
  entry.cron = json.value("cron", "");
  if (json.value("dialect", "") == "unix") entry.dialect = model::CronDialect::Unix;
  if (json.value("dialect", "") == "quartz") entry.dialect = model::CronDialect::Quartz;
  entry.time_zone = json.value("zone", "UTC");
  entry.is_as_quartz = json.value("as_quartz", false);
  entry.skipped_time = json.value("skipped", "run_at_end") == "skip" ? model::SkippedTime::Skip
                                                                     : model::SkippedTime::RunAtEnd;
  const std::string repeated = json.value("repeated", "first");
  entry.repeated_time = repeated == "first"    ? model::RepeatedTime::First
                        : repeated == "second" ? model::RepeatedTime::Second
                                               : model::RepeatedTime::Both;
  entry.interval = Millis{json.value("interval", std::int64_t{0})};
  entry.working_day = json.value("working_day", 0);
  entry.time = json.value("time", "");
  entry.between = json.value("between", "");
  const std::string otherwise = json.value("otherwise", "skip");
  entry.otherwise = otherwise == "next"       ? model::Otherwise::Next
                    : otherwise == "previous" ? model::Otherwise::Previous
                                              : model::Otherwise::Skip;
  entry.day = json.value("day", 0);
  return entry;
}

Result<CalendarPtr> calendar_of(const Json& json) {
  model::Calendar calendar;
  calendar.name = json.value("name", "made");
  calendar.time_zone = json.value("zone", "UTC");
  calendar.days = json.value("days", "mon-sun");
  calendar.exclude = json.value("exclude", std::vector<std::string>{});
  calendar.include = json.value("include", std::vector<std::string>{});
  auto zone = timezone::load_zone(calendar.time_zone);
  if (!zone) return fail(zone.error());
  auto compiled = compile_calendar(calendar, *zone);
  if (!compiled) return fail(compiled.error());
  return std::make_shared<const CompiledCalendar>(std::move(*compiled));
}

Result<Json> answer(const Json& question) {
  auto entry = entry_of(question);
  if (!entry) return fail(entry.error());
  auto zone = timezone::load_zone(entry->time_zone);
  if (!zone) return fail(zone.error());
  EntryParts parts{*zone, {}};
  for (const Json& each : question.value("calendars", Json::array())) {
    auto calendar = calendar_of(each);
    if (!calendar) return fail(calendar.error());
    entry->calendars.push_back((*calendar)->name());
    parts.calendars.push_back({{WallTime{}, *calendar}});
  }
  const WallTime anchor = wall_from_ms(question.value("anchor", std::int64_t{0}));
  const auto compiled = compile_entry(*entry, parts, anchor, job_hash("default", "test"));
  if (!compiled) return fail(compiled.error());
  Json moments = Json::array();
  auto next = compiled->next_after(wall_from_ms(question.at("after").get<std::int64_t>()));
  for (int left = question.at("count").get<int>(); left > 0 && next; --left) {
    moments.push_back(to_ms(*next));
    next = compiled->next_after(*next);
  }
  return moments;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto moments = answer(Json::parse(line));
    std::cout << (moments ? *moments : Json(moments.error().message)).dump() << '\n';
  }
}
