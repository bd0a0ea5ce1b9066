#include "calendar_judge.h"

#include <algorithm>

#include "common/model/entry_text.h"
#include "master/core/time/cron_hash.h"

namespace rota::sim {

namespace {

constexpr Millis kLeast{10'000};         ///< so far ahead an edit counts

/// Of the life that the calendar had when the job version began, and what came later in it.
std::vector<CalendarSays> versions_at(const SimTables& tables, const std::string& space, const std::string& name,
                                      WallTime moment) {
  std::vector<CalendarSays> out;
  for (auto at = tables.calendars.lower_bound({space, name, 0}); at != tables.calendars.end(); ++at) {
    const model::CalendarRow& row = at->second;
    if (row.space != space || row.calendar->name != name) break;
    if (row.deleted && row.changed > moment) break;
    if (row.deleted) out.clear();
    if (row.deleted) continue;
    auto says = CalendarSays::of(row);
    if (says) out.push_back(std::move(*says));
  }
  return out;
}

std::vector<model::ScheduleEntry> entries_with_calendars(const model::JobVersionRow& row) {
  std::vector<model::ScheduleEntry> out;
  for (const std::string& line : row.definition->rules.schedule.entries) {
    if (line.find("calendars ") == std::string::npos) continue;
    auto entry = model::entry_from_text(line);
    if (entry && !entry->calendars.empty()) out.push_back(std::move(*entry));
  }
  return out;
}

bool names(const model::JobVersionRow& row, const model::CalendarRow& calendar) {
  if (row.definition->space != calendar.space) return false;
  const auto entries = entries_with_calendars(row);
  return std::ranges::any_of(entries, [&](const model::ScheduleEntry& entry) {
    return std::ranges::find(entry.calendars, calendar.calendar->name) != entry.calendars.end();
  });
}

/// The newest version of a job that is saved; null: it is not.
const model::JobVersionRow* saved_version(const SimTables& tables, const model::Job& job) {
  if (job.one_off || job.state == model::JobState::Deleted) return nullptr;
  const auto found = tables.versions.find({job.id, job.version});
  return found == tables.versions.end() ? nullptr : &found->second;
}

std::string named(const model::CalendarRow& row) {
  return "version " + std::to_string(row.version) + " of calendar " + row.calendar->name;
}

}  // namespace

WallTime recorded_of(const SimTables& tables, JobId job) {
  WallTime through = tables.watermark ? tables.watermark->of(job) : wall_from_ms(0);
  const auto row = tables.jobs.find(job);
  if (row != tables.jobs.end() && row->second.ticks_through) {
    through = std::max(through, *row->second.ticks_through);
  }
  for (auto at = tables.versions.lower_bound({job, 0}); at != tables.versions.end() && at->first.first == job;
       ++at) {
    if (at->second.valid_to) through = std::max(through, *at->second.valid_to);
  }
  return through;
}

Readings read_entries(const SimTables& tables, const model::JobVersionRow& row) {
  Readings out;
  out.calendar_rows = tables.calendars.size();
  out.plain = row;
  const auto entries = entries_with_calendars(row);
  if (entries.empty()) return out;
  auto definition = std::make_shared<model::JobDefinition>(*row.definition);
  std::erase_if(definition->rules.schedule.entries,
                [](const std::string& line) { return line.find("calendars ") != std::string::npos; });
  if (definition->rules.schedule.entries.empty()) definition->rules.schedule = {};
  out.plain.definition = std::move(definition);
  const std::uint64_t hash = master::core::job_hash(row.definition->space, row.definition->name);
  for (const model::ScheduleEntry& entry : entries) {
    std::vector<std::vector<CalendarSays>> calendars;
    for (const std::string& name : entry.calendars) {
      calendars.push_back(versions_at(tables, row.definition->space, name, row.valid_from));
      if (calendars.back().empty()) out.wrong = "there is no calendar " + name;
    }
    if (!out.wrong.empty()) return out;
    auto reading = EntryReading::of(entry, std::move(calendars), row.anchor, hash);
    if (!reading) out.wrong = reading.error().message;
    if (reading) out.by_calendars.push_back(std::move(*reading));
  }
  return out;
}

const model::CalendarRow* living_calendar(const SimTables& tables, const std::string& space, const std::string& name) {
  auto at = tables.calendars.upper_bound({space, name, INT32_MAX});
  if (at == tables.calendars.begin()) return nullptr;
  const model::CalendarRow& row = (--at)->second;
  return row.space == space && row.calendar->name == name && !row.deleted ? &row : nullptr;
}

std::string judge_calendar(const SimTables& tables, const model::CalendarRow& row) {
  const model::CalendarRow* before = living_calendar(tables, row.space, row.calendar->name);
  const bool follows = row.version == 1 || tables.calendars.contains({row.space, row.calendar->name, row.version - 1});
  if (!follows) return "a calendar's numbers do not go on, " + named(row);
  if (row.deleted) return before == nullptr ? "a calendar is deleted that is none, " + named(row) : "";
  if (before == nullptr) return "";
  if (row.from < row.changed + kLeast) return "an edit counts less than 10 s later, " + named(row);
  if (row.from <= before->from) return "an edit counts before the one that it follows, " + named(row);
  for (const auto& [id, job] : tables.jobs) {
    const model::JobVersionRow* version = saved_version(tables, job);
    if (version == nullptr || !names(*version, row) || recorded_of(tables, id) < row.from) continue;
    return "P1: an edit counts for what is recorded already, " + named(row) + ", job " + std::to_string(id.value);
  }
  return "";
}

std::string judge_calendar_users(const SimTables& tables) {
  for (const auto& [id, job] : tables.jobs) {
    const model::JobVersionRow* version = saved_version(tables, job);
    if (version == nullptr || version->definition->rules.schedule.entries.empty()) continue;
    for (const model::ScheduleEntry& entry : entries_with_calendars(*version)) {
      for (const std::string& name : entry.calendars) {
        if (living_calendar(tables, version->definition->space, name) != nullptr) continue;
        return "job " + std::to_string(id.value) + " names the calendar " + name + ", which is not there";
      }
    }
  }
  return "";
}

}  // namespace rota::sim
