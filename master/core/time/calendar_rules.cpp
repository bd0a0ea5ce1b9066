#include "master/core/time/calendar_rules.h"

#include <algorithm>
#include <utility>

#include "common/model/day_text.h"
#include "master/core/batch_rows.h"
#include "master/core/memory_rules.h"
#include "master/core/notices.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/hold_rules.h"
#include "master/core/time/over_jobs.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {
namespace {

constexpr Millis kSmallestLead{1};
constexpr std::size_t kUsersTold = 5;
constexpr std::size_t kMostEndingShown = 100;

void refuse_calendar(Context& ctx, Token token, ErrorCode code, std::string message) {
  reply(ctx, token, Error(code, std::move(message)));
}

std::string calendar_named(const std::string& space, const std::string& name) {
  return "calendar '" + space + "/" + name + "'";
}

/// From when on an edit counts is told by the clock. While ticks are held, that may be wrong.
bool refuse_while_held(Context& ctx, Token token) {
  const TickTable& ticks = ctx.state.ticks();
  const std::string why = hold_text(ticks.hold(), ticks.watermark().reaching, ctx.now.wall);
  if (why.empty()) return false;
  refuse_calendar(ctx, token, ErrorCode::Unavailable,
                  "calendars cannot be changed while ticks are held: " + why);
  return true;
}

bool refuse_stale_calendar(Context& ctx, const ApplyCalendar& event, std::int32_t present) {
  if (!event.expected_version || *event.expected_version == present) return false;
  const std::string what = calendar_named(event.space, event.calendar->name);
  const std::string now = std::to_string(present), then = std::to_string(*event.expected_version);
  std::string message = what + " has version " + now + ", the edit was made from version " + then +
                        "; read it again";
  if (present == 0) message = what + " does not exist, the edit was made from version " + then;
  if (then == "0") message = what + " exists already, with version " + now + "; a new one was expected";
  refuse_calendar(ctx, event.token, ErrorCode::Conflict, std::move(message));
  return true;
}

bool refuse_used(Context& ctx, const DeleteCalendar& event) {
  const IdSet<JobId>& users = ctx.state.jobs().users_of(event.space, event.name);
  if (users.empty()) return false;
  std::string names;
  std::size_t told = 0;
  for (auto at = users.begin(); at != users.end() && told < kUsersTold; ++at, ++told) {
    names += (told == 0 ? "" : ", ") + ctx.state.find_job(*at)->row.name;
  }
  if (users.size() > told) names += " and " + std::to_string(users.size() - told) + " more";
  refuse_calendar(ctx, event.token, ErrorCode::Conflict,
                  calendar_named(event.space, event.name) + " is used by " + std::to_string(users.size()) +
                      (users.size() == 1 ? " job: " : " jobs: ") + names +
                      "; take it out of their schedules first");
  return true;
}

/// By the versions as they stand now. A job of which this program cannot read something does not fire.
void replan(Context& ctx, JobEntry& job) {
  const CompiledEntries* entries = job.schedule().entries();
  model::Zones zones;
  for (std::size_t i = 0; entries != nullptr && i < entries->all().size(); ++i) {
    zones.others.push_back(entries->all()[i].zone());
  }
  auto plan = ctx.state.jobs().plan_of(job.shared_rules(), zones, job.anchor,
                                       job_hash(job.row.space(), job.row.name),
                                       calendars_in(ctx.state, job.row.space()));
  if (!plan) {
    const std::string name = job.row.space() + "/" + job.row.name;
    return warn(ctx, "a job cannot be planned anew", {{"job", name}, {"why", plan.error().message}});
  }
  ctx.state.jobs().set_plan(job, std::move(*plan));
  plan_after_end(ctx.state, job);
  plan_next_tick(ctx.state, job);
}

/// A new calendar counts at once: no job uses it yet. An edit counts later than each version before it.
WallTime begin_of(const CalendarEntry* entry, WallTime at) {
  if (entry == nullptr) return at;
  return std::max(at + kCalendarLead, entry->newest().from + kSmallestLead);
}

void tell_calendar(Context& ctx, std::string_view sentence, const model::CalendarRow& row) {
  NoticeKeys keys = {{"calendar", row.space + "/" + row.calendar->name},
                     {"version", std::to_string(row.version)},
                     {"by", row.principal}};
  if (!row.why.empty()) keys.emplace_back("why", row.why);
  tell(ctx, sentence, std::move(keys));
}

void store_row(Context& ctx, model::CalendarRow row, CalendarPtr compiled) {
  ctx.out.changes.calendars.push_back(row);
  const WallTime planned_from = ctx.state.freezes().planned_from(ctx.state.ticks().watermark().through);
  ctx.state.calendars().put(std::move(row), std::move(compiled), planned_from);
}

model::CalendarRow row_after(Context& ctx, const std::string& space, const std::string& name,
                             const std::string& principal) {
  model::CalendarRow row;
  row.space = space;
  row.version = ctx.state.calendars().last_version(space, name) + 1;
  row.changed = ctx.at;
  row.principal = principal;
  return row;
}

CalendarApplied planned_edit(const Context& ctx, const CalendarEntry* entry, const ApplyCalendar& event) {
  if (entry != nullptr && *entry->newest().calendar == *event.calendar) {
    return {entry->newest().version, entry->newest().from, false, false};
  }
  CalendarApplied out;
  out.version = ctx.state.calendars().last_version(event.space, event.calendar->name) + 1;
  out.from = begin_of(entry, ctx.at);
  out.created = entry == nullptr;
  out.over = over_jobs(ctx.state, event, out.from);
  return out;
}

}  // namespace

void handle_apply_calendar(Context& ctx, const ApplyCalendar& event) {
  const std::string& name = event.calendar->name;
  const CalendarEntry* entry = ctx.state.calendars().find(event.space, name);
  if (event.only_tell) return reply(ctx, event.token, planned_edit(ctx, entry, event));
  if (refuse_while_held(ctx, event.token)) return;
  if (refuse_stale_calendar(ctx, event, entry == nullptr ? 0 : entry->newest().version)) return;
  if (entry != nullptr && *entry->newest().calendar == *event.calendar) {
    const model::CalendarRow& same = entry->newest();
    return reply(ctx, event.token, CalendarApplied{same.version, same.from, false, false});
  }
  if (entry == nullptr && ctx.state.calendars().size() >= kMostCalendars) {
    return refuse_calendar(ctx, event.token, ErrorCode::InvalidArgument,
                  "there are " + std::to_string(kMostCalendars) + " calendars; delete one first");
  }
  model::CalendarRow row = row_after(ctx, event.space, name, event.principal);
  row.from = begin_of(entry, ctx.at);
  row.calendar = event.calendar;
  CalendarApplied applied{row.version, row.from, true, entry == nullptr};
  applied.over = over_jobs(ctx.state, event, applied.from);
  tell_calendar(ctx, applied.created ? "calendar created" : "calendar changed", row);
  store_row(ctx, std::move(row), event.compiled);
  ctx.state.calendars().ask_to_replan(ctx.state.jobs().users_of(event.space, name), applied.from);
  reply(ctx, event.token, std::move(applied));
}

void handle_delete_calendar(Context& ctx, const DeleteCalendar& event) {
  if (refuse_while_held(ctx, event.token)) return;
  const CalendarEntry* entry = ctx.state.calendars().find(event.space, event.name);
  if (entry == nullptr) {
    return refuse_calendar(ctx, event.token, ErrorCode::NotFound,
                           "no " + calendar_named(event.space, event.name));
  }
  if (refuse_used(ctx, event)) return;
  model::CalendarRow row = row_after(ctx, event.space, event.name, event.principal);
  row.from = ctx.at;
  row.why = event.why;
  row.deleted = true;
  row.calendar = entry->newest().calendar;
  tell_calendar(ctx, "calendar deleted", row);
  const CalendarApplied applied{row.version, row.from, true, false};
  store_row(ctx, std::move(row), nullptr);
  reply(ctx, event.token, applied);
}

CalendarSource calendars_in(const State& state, const std::string& space) {
  return [&state, space](std::string_view name) -> CalendarHistoryPtr {
    const CalendarEntry* entry = state.calendars().find(space, std::string(name));
    return entry == nullptr || entry->history().empty() ? nullptr : entry->shared_history();
  };
}

void replan_jobs(Context& ctx, bool is_turn_for_it) {
  CalendarTable& calendars = ctx.state.calendars();
  const bool is_due = calendars.is_replan_due(ctx.at);
  int left = is_turn_for_it ? kReplannedAtOnce : 0;
  while (is_due || left-- > 0) {
    const auto id = calendars.next_to_replan();
    if (!id) return;
    if (JobEntry* job = ctx.state.find_job(*id)) replan(ctx, *job);
  }
}

std::vector<EndingCalendar> calendars_ending(const State& state, WallTime now) {
  std::vector<EndingCalendar> out;
  for (const CalendarEntry* entry : state.calendars().ending(now)) {
    if (out.size() == kMostEndingShown) break;
    const CompiledCalendar& calendar = *entry->history().back().calendar;
    const std::string& space = entry->newest().space;
    const std::size_t users = state.jobs().users_of(space, calendar.name()).size();
    if (users == 0) continue;
    out.push_back({space, calendar.name(), calendar.covers()->last, *end_of_cover(*entry),
                   calendar.last_day().has_value(), static_cast<std::int64_t>(users)});
  }
  return out;
}

void look_at_calendars(Context& ctx) {
  CalendarTable& calendars = ctx.state.calendars();
  while (const CalendarEntry* entry = calendars.next_ending(ctx.at)) {
    const CompiledCalendar& calendar = *entry->history().back().calendar;
    const bool holds = calendar.last_day().has_value();
    warn(ctx, "calendar covers no more days soon",
         {{"calendar", entry->newest().space + "/" + calendar.name()},
          {"last_day", model::day_to_text(calendar.covers()->last)},
          {"then", holds ? "nothing fires (beyond: hold)" : "its weekdays decide (beyond: days)"}});
    calendars.note_told(*entry);
  }
}

}  // namespace rota::master::core
