#include "tick_judge.h"

#include <algorithm>
#include <memory>

#include "common/model/entry_text.h"
#include "master/core/time/cron_hash.h"
#include "master/verify/planned_ticks.h"
#include "sim_zones.h"

namespace rota::sim {

using model::Reason;

namespace {

constexpr WallTime kBeginning = wall_from_ms(0);

std::string number(std::int64_t n) { return std::to_string(n); }

std::string place(JobId job, WallTime tick) {
  return "tick " + number(to_ms(tick)) + " of job " + number(job.value);
}

/// It fired ahead of its time, before an operator's rewind; edits of that time are now valid sooner.
bool was_rewound(const SimTables& tables, RunId run, WallTime tick) {
  return std::ranges::any_of(tables.rewinds,
                             [&](const auto& rewind) { return rewind.keeps(Epoch{run.value >> kIdCounterBits}, tick); });
}

/// A tick that had already fired before a rewind lies in no gap.
bool is_kept(const SimTables& tables, const std::pair<JobId, WallTime>& tick) {
  if (tables.rewinds.empty()) return false;
  const auto run = tables.run_of_tick.find(tick);
  return run != tables.run_of_tick.end() && was_rewound(tables, run->second, tick.second);
}

}  // namespace

const master::core::CompiledSchedule& TickJudge::schedule_of(const model::JobVersionRow& row) {
  const auto found = schedules_.find({row.job, row.version});
  if (found != schedules_.end()) return found->second;
  auto compiled = master::core::compile(row.definition->rules.schedule,
                                        std::make_shared<const model::ZoneRules>(), row.anchor,
                                        master::core::job_hash(row.definition->space, row.definition->name));
  return schedules_.emplace(std::pair{row.job, row.version}, std::move(*compiled)).first->second;
}

WallTime TickJudge::judged(const SimTables& tables, JobId job) {
  const auto found = tables.judged_through.find(job);
  return found == tables.judged_through.end() ? kBeginning : found->second;
}

TickJudge::Plans TickJudge::plan(const SimTables& tables, const Windows& windows) {
  Plans planned;
  for (const auto& [key, row] : tables.versions) {
    if (!row.enabled || row.definition->rules.schedule.kind == model::ScheduleKind::None) continue;
    const auto window = windows.find(row.job);
    if (window == windows.end()) continue;
    const auto [after, through] = window->second;
    const WallTime end = row.valid_to ? std::min(*row.valid_to, through) : through;
    const WallTime begin = std::max(row.valid_from, after);
    if (end <= begin) continue;
    if (row.definition->rules.schedule.kind == model::ScheduleKind::Entries) {
      plan_entries(tables, row, begin, end, planned);
      continue;
    }
    const auto& schedule = schedule_of(row);
    for (auto tick = schedule.next_after(begin); tick && *tick <= end; tick = schedule.next_after(*tick)) {
      planned.ticks[{row.job, *tick}] = {row.version, 0};
    }
  }
  std::erase_if(planned.edited_away, [&](const auto& each) { return planned.ticks.contains(each.first); });
  return planned;
}

const Readings& TickJudge::readings_of(const SimTables& tables, const model::JobVersionRow& row) {
  const auto [found, is_new] = readings_.try_emplace({row.job, row.version});
  const Readings& known = found->second;
  const bool is_stale = known.calendar_rows != tables.calendars.size() || known.plain.valid_from != row.valid_from;
  if (is_new || is_stale) found->second = read_entries(tables, row);
  return found->second;
}

/// Entries without calendars as `rota verify` does, which shares no walk with the leader.
void TickJudge::plan_entries(const SimTables& tables, const model::JobVersionRow& row, WallTime begin, WallTime end,
                             Plans& planned) {
  const Readings& readings = readings_of(tables, row);
  for (const EntryReading& reading : readings.by_calendars) {
    reading.plan(begin, end, [&](WallTime at, Planned how) {
      planned.ticks[{row.job, at}] = {row.version, 0};
      note_moment(reading, how);
    });
    reading.plan_edited_away(begin, end, [&](WallTime at) { planned.edited_away[{row.job, at}] = {row.version, 0}; });
    note_rest(reading, begin, end);
  }
  if (readings.plain.definition->rules.schedule.kind == model::ScheduleKind::None) return;
  auto plain = readings.plain;
  plain.valid_to = row.valid_to;
  auto ticks = master::verify::PlannedTicks::of(plain, sim_zone, end, begin + Millis{1});
  if (!ticks) return;  // then each of its runs is one of a tick that was not planned
  while (const auto tick = ticks->next()) planned.ticks[{row.job, *tick}] = {row.version, 0};
}

void TickJudge::note_moment(const EntryReading& reading, Planned how) {
  if (how == Planned::MovedOn) marks_.hit("tick_moved_on_by_calendar");
  if (how == Planned::MovedBack) marks_.hit("tick_moved_back_by_calendar");
  if (how == Planned::WorkingDay) marks_.hit("tick_of_working_day_by_calendar");
  if (reading.entry().day != 0) marks_.hit("tick_by_another_day");
  if (reading.entry().calendars.size() > 1) marks_.hit("tick_by_two_calendars");
}

void TickJudge::note_rest(const EntryReading& reading, WallTime after, WallTime through) {
  marks_.hit("tick_left_out_by_calendar", reading.left_out(after, through));
  marks_.hit("calendar_edited_at_a_tick", reading.decided_at_edit(after, through));
}

std::string TickJudge::count_runs(const SimTables& tables, const Windows& windows, Plans& planned) {
  for (const auto& [id, window] : windows) {
    for (auto at = tables.run_of_tick.upper_bound({id, window.first});
         at != tables.run_of_tick.end() && at->first.first == id; ++at) {
      if (at->first.second > window.second) {
        if (was_rewound(tables, at->second, at->first.second)) continue;  // it counts at its own time
        return "P1: a tick is recorded ahead of what is said to be, run " + number(at->second.value);
      }
      if (const auto found = planned.ticks.find(at->first); found != planned.ticks.end()) {
        ++found->second.second;
        continue;
      }
      const bool may_be = was_rewound(tables, at->second, at->first.second) ||
                          is_after_end(tables, tables.runs.at(at->second));
      if (!may_be) {
        return "P1: a run of a tick that was not planned, run " + number(at->second.value) + " of job " +
               number(id.value) + " at " + number(to_ms(at->first.second));
      }
      planned.edited_away.erase(at->first);  // it fires all the same
    }
  }
  return "";
}

std::string TickJudge::count_gaps(SimTables& tables, const Windows& windows, Plans& planned) {
  const auto through = [&windows](const auto& gap) {
    const auto window = windows.find(gap.row.job);
    return window == windows.end() ? kBeginning : window->second.second;
  };
  for (SimTables::OpenGap& gap : tables.open_gaps) {
    const bool is_edit = gap.row.reason == Reason::CalendarEdited;
    Plan& counted = is_edit ? planned.edited_away : planned.ticks;
    for (auto at = counted.lower_bound({gap.row.job, gap.row.from});
         at != counted.end() && at->first.first == gap.row.job && at->first.second <= gap.row.to; ++at) {
      if (at->second.first != gap.row.version || is_kept(tables, at->first)) continue;
      ++at->second.second;
      ++gap.covered;
      if (is_edit) marks_.hit("tick_edited_away");
    }
    if (gap.row.to > through(gap)) return "P1: a gap is recorded ahead of what is said to be, " + place(gap.row.job, gap.row.to);
    if (gap.covered != gap.row.count) {
      return "P1: a gap of " + number(gap.row.count) + " covers " + number(gap.covered) +
             " planned ticks from " + place(gap.row.job, gap.row.from);
    }
  }
  tables.open_gaps.clear();
  return "";
}

std::string TickJudge::judge_window(SimTables& tables) {
  Windows windows;
  for (const auto& [id, job] : tables.jobs) {
    if (!job.one_off) windows[id] = {judged(tables, id), recorded_of(tables, id)};
  }
  Plans planned = plan(tables, windows);
  if (std::string wrong = count_runs(tables, windows, planned); !wrong.empty()) return wrong;
  if (std::string wrong = count_gaps(tables, windows, planned); !wrong.empty()) return wrong;
  for (const auto& [key, times] : planned.edited_away) {
    if (times.second == 1) continue;
    return "P1: " + place(key.first, key.second) + " was edited away, and is in " + number(times.second) + " gaps";
  }
  for (const auto& [key, times] : planned.ticks) {
    if (times.second == 1) continue;
    return "P1: " + place(key.first, key.second) + " is there " + number(times.second) + " times";
  }
  for (const auto& [id, window] : windows) tables.judged_through[id] = std::max(window.first, window.second);
  return "";
}

/// Some version of its namespace's limits had one of that kind; which one was in force is not looked at.
bool TickJudge::has_limit(const SimTables& tables, const model::Gap& gap) {
  const auto job = tables.jobs.find(gap.job);
  return job != tables.jobs.end() && std::ranges::any_of(tables.quotas, [&](const auto& each) {
    const model::QuotaRow& row = each.second;
    const std::int64_t limit = gap.reason == Reason::NamespaceFirings ? row.quota.firings : row.quota.unfinished;
    return row.of == model::QuotaOf::Space && row.name == job->second.space && limit >= 0;
  });
}

std::string TickJudge::judge_gap(const SimTables& tables, const model::Gap& gap) const {
  if (gap.from <= judged(tables, gap.job)) {
    return "P1: a gap is recorded behind what was said to be, " + place(gap.job, gap.from);
  }
  const auto version = tables.versions.find({gap.job, gap.version});
  if (version == tables.versions.end()) return "P1: a gap of a version that is not stored";
  const model::JobRules& rules = version->second.definition->rules;
  switch (gap.reason) {
    case Reason::LateSkipped:
      return rules.late == model::LatePolicy::Skip ? "" : "P3: late ticks skipped against the policy";
    case Reason::CoalescedInto:
      return rules.late == model::LatePolicy::FireOnce ? "" : "P3: ticks coalesced against the policy";
    case Reason::Frozen: {
      const auto freeze = tables.freezes.find(gap.reference);
      const bool is_covered = freeze != tables.freezes.end() && freeze->second.covers(gap.from) && freeze->second.covers(gap.to);
      return is_covered || may_lack_freezes_ ? "" : "P33: frozen by no freeze, " + place(gap.job, gap.from);
    }
    case Reason::LateBounded:
      return rules.late == model::LatePolicy::FireAll ? "" : "P3: ticks bounded against the policy";
    case Reason::QueueFull:
      return rules.overlap == model::Overlap::Queue ? "" : "P3: a queue that is none was full";
    case Reason::NamespaceUnfinished:
    case Reason::NamespaceFirings:
      return may_lack_freezes_ || has_limit(tables, gap) ? "" : "P3: a tick beyond a limit that is none, " + place(gap.job, gap.from);
    case Reason::Missed:
      return rules.overlap != model::Overlap::Allow ? "" : "P3: missed beside a run, though overlaps are allowed";
    case Reason::CalendarEdited: return "";
    case Reason::OverlapSkipped: {
      const auto run = tables.runs.find(RunId{gap.reference});
      const bool was_over = run != tables.runs.end() && model::is_final(run->second.progress.state);
      return was_over || rules.overlap != model::Overlap::Skip
                 ? "P3: skipped for an overlap that is none, " + place(gap.job, gap.from)
                 : "";
    }
    default:
      return "P3: a gap without a reason that a tick can have";
  }
}

bool TickJudge::is_after_end(const SimTables& tables, const model::Run& run) {
  const auto version = tables.versions.find({run.job, run.version});
  if (version == tables.versions.end() || !version->second.enabled) return false;
  for (const std::string& line : version->second.definition->rules.schedule.entries) {
    const auto entry = model::entry_from_text(line);
    if (!entry || entry->kind != model::EntryKind::AfterEnd) continue;
    if (!entry->calendars.empty() && !is_open_after_end(tables, version->second, *run.tick)) return false;
    auto before = tables.run_of_tick.lower_bound({run.job, *run.tick});
    if (before == tables.run_of_tick.begin() || (--before)->first.first != run.job) return true;
    return *run.tick - before->first.second >= entry->interval;
  }
  return false;
}

/// By its calendars; there is one such entry.
bool TickJudge::is_open_after_end(const SimTables& tables, const model::JobVersionRow& row, WallTime tick) {
  const Readings& readings = readings_of(tables, row);
  return std::ranges::any_of(readings.by_calendars, [&](const EntryReading& reading) {
    return reading.entry().kind == model::EntryKind::AfterEnd && reading.is_open(tick);
  });
}

/// Of the versions since it was last enabled. Those of the same batch are not among the tables yet.
std::string TickJudge::judge_firings(const SimTables& tables, const model::Run& run, std::int32_t most) {
  JobVersion first = run.version;
  for (auto at = tables.versions.find({run.job, first}); at != tables.versions.end() && at->second.enabled;
       at = tables.versions.find({run.job, first - 1})) {
    first = at->first.second;
  }
  std::int32_t fired = 0;
  for (auto at = tables.run_of_tick.lower_bound({run.job, kBeginning});
       at != tables.run_of_tick.end() && at->first.first == run.job; ++at) {
    const auto row = tables.runs.find(at->second);
    if (row != tables.runs.end() && row->second.version >= first) ++fired;
  }
  for (const auto& [id, row] : tables.runs) {
    if (tables.freezes.empty() && tables.starts.empty()) break;
    const bool counts = row.kind == model::RunKind::AfterFreeze ||
                        (row.kind == model::RunKind::WorkerStart && row.progress.state != model::RunState::Skipped);
    if (counts && row.job == run.job && row.version >= first) ++fired;
  }
  return fired < most ? "" : "more ticks fire than `firings` allows, run " + number(run.id.value);
}

std::string TickJudge::judge_made_up(const SimTables& tables, const model::Run& run) const {
  if (may_lack_freezes_) return "";
  for (const auto& [id, freeze] : tables.freezes) {
    const bool is_its_key = run.request_key == model::freeze_key(id, run.job, run.scheduled);
    if (!is_its_key) continue;
    return freeze.covers(run.scheduled) && freeze.end() <= run.recorded ? "" : "P33: made up for what was not frozen";
  }
  return "P33: made up for no freeze, run " + number(run.id.value);
}

std::string TickJudge::judge_run(const SimTables& tables, const model::Run& run) const {
  if (*run.tick <= judged(tables, run.job)) {
    return "P1: a tick is recorded behind what was said to be, run " + number(run.id.value);
  }
  const auto version = tables.versions.find({run.job, run.version});
  if (version == tables.versions.end()) return "P1: a run of a version that is not stored";
  const model::JobRules& rules = version->second.definition->rules;
  if (rules.firings > 0) {
    if (std::string wrong = judge_firings(tables, run, rules.firings); !wrong.empty()) return wrong;
  }
  for (const auto& [id, freeze] : tables.freezes) {
    if (may_lack_freezes_) break;
    if (freeze.is_of(run.space) && freeze.covers(*run.tick)) return "P33: a frozen tick fired, run " + number(run.id.value);
  }
  const bool too_late = run.recorded - *run.tick > rules.tick_grace;
  if (too_late && rules.late == model::LatePolicy::Skip) {
    return "P3: a late tick fired against the policy, run " + number(run.id.value);
  }
  return "";
}

}  // namespace rota::sim
