// What happened, or will happen, at one moment of a job, and why.
#include <algorithm>

#include "common/base/duration_text.h"
#include "common/time/zones.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/api/moment_words.h"
#include "master/core/time/cron_hash.h"
#include "master/verify/planned_ticks.h"

namespace rota::master::api {
namespace {

constexpr WallTime kEndOfTime = wall_from_ms(253'402'300'799'999);  // of the year 9999

/// The version that is valid at that moment; null: none.
const model::JobVersionRow* valid_at(const std::vector<model::JobVersionRow>& versions, WallTime at) {
  for (const model::JobVersionRow& version : versions) {
    if (version.valid_from < at && (!version.valid_to || at <= *version.valid_to)) return &version;
  }
  return nullptr;
}

/// By the clock; what is due after the end of a run is planned by that end.
std::optional<WallTime> first_planned(store::Reader& reader, const model::JobVersionRow& version,
                                      WallTime from) {
  const verify::CalendarRows calendars = [&reader](const std::string& space, const std::string& name) {
    return reader.calendar_versions(space, name);
  };
  auto planned =
      value_or_throw(verify::PlannedTicks::of(version, &timezone::load_zone, kEndOfTime, from, calendars));
  return planned.next();
}

void put_gap(TickFacts& facts, const std::vector<model::Gap>& gaps) {
  for (const model::Gap& gap : gaps) {
    const bool covers = gap.from <= facts.at && facts.at <= gap.to;
    const bool is_of_edit = gap.reason == model::Reason::CalendarEdited;
    if (covers && facts.is_planned != is_of_edit) facts.gap = gap;
  }
}

bool is_behind_a_run(const model::Gap& gap) {
  return gap.reason == model::Reason::OverlapSkipped || gap.reason == model::Reason::QueueFull;
}

/// How many ticks the run in this gap's way has cost so far, while it goes on; among so many rows.
std::int64_t skipped_behind(store::Reader& reader, const model::Gap& in) {
  constexpr std::int32_t kLookedAt = 1000;
  if (!is_behind_a_run(in)) return 0;
  const auto run = reader.get_run(RunId{in.reference});
  if (!run || model::is_final(run->run.progress.state)) return 0;
  std::int64_t ticks = 0;
  for (const model::Gap& gap :
       value_or_throw(reader.gaps_before(in.job, in.version, kEndOfTime, kLookedAt))) {
    if (is_behind_a_run(gap) && gap.reference == in.reference) ticks += gap.count;
  }
  return ticks;
}

/// Whether the job could fire then at all.
void put_version(TickFacts& facts, const std::vector<model::JobVersionRow>& versions,
                 const model::JobVersionRow* version) {
  if (version != nullptr && version->enabled) return;
  if (version != nullptr) {
    facts.unready = {"paused", "the job was paused then, by " + version->principal};
    return;
  }
  if (versions.empty() || facts.at <= versions.front().valid_from) {
    facts.unready = {"not_created", "the job did not exist yet"};
    if (!versions.empty())
      facts.unready.sentence += "; it was created at " + format_moment(versions.front().valid_from);
    return;
  }
  facts.unready = {"deleted", "the job was deleted then"};
}

/// What its entries and calendars say of the moment.
void put_words(TickFacts& facts, store::Reader& reader, const model::Job& job,
               const model::JobVersionRow& version) {
  const CalendarVersions calendars = [&](const std::string& name) {
    std::vector<model::CalendarRow> out;  // of the calendar's life at that moment
    for (model::CalendarRow& row : value_or_throw(reader.calendar_versions(job.space, name))) {
      if (row.deleted && row.changed > facts.at) break;
      if (row.deleted) out.clear();
      if (!row.deleted) out.push_back(std::move(row));
    }
    return out;
  };
  const model::Schedule& schedule = version.definition->rules.schedule;
  const std::uint64_t hash = core::job_hash(job.space, job.name);
  if (facts.is_planned) {
    facts.whose = whose_tick(schedule, version.anchor, hash, calendars, facts.at);
  } else {
    facts.why = why_no_tick(schedule, version.anchor, hash, calendars, facts.at);
  }
}

}  // namespace

TickFacts JobServiceHandler::tick_facts(const store::JobRow& row, WallTime at) {
  TickFacts facts;
  facts.at = at;
  facts.now = parts_.clock.wall();
  facts.state = row.job.state;
  facts.state_by = row.job.state_by;
  facts.late = row.version.definition->rules.late;
  const auto versions = value_or_throw(parts_.reader.versions_of(row.job.id));
  WallTime recorded = row.job.ticks_through.value_or(WallTime{});
  const auto mark = value_or_throw(parts_.reader.watermark());
  if (mark) recorded = std::max(recorded, mark->of(row.job.id));
  for (const auto& version : versions) recorded = std::max(recorded, version.valid_to.value_or(WallTime{}));
  facts.is_recorded = at <= recorded;
  facts.is_known = at > value_or_throw(parts_.reader.gone_through(row.job.id)).value_or(WallTime{});
  const model::JobVersionRow* version = valid_at(versions, at);
  facts.is_planned = version != nullptr && first_planned(parts_.reader, *version, at) == at;
  put_version(facts, versions, version);
  if (version != nullptr) put_words(facts, parts_.reader, row.job, *version);
  const WallTime ahead = std::max(at, facts.now) + Millis{1};
  if (!versions.empty()) facts.next = first_planned(parts_.reader, versions.back(), ahead);
  const auto due = row.job.memory.due;
  if (due == at) facts.is_planned = true;
  if (due && ahead <= *due) facts.next = std::min(facts.next.value_or(*due), *due);
  auto runs = value_or_throw(parts_.reader.tick_runs_of(row.job.id, at - Millis{1}, at, 1));
  if (!runs.empty()) facts.run = std::move(runs.front());
  if (facts.is_recorded && version != nullptr) {
    constexpr std::int32_t kGapsMet = 4;  // that may begin before the moment and reach it
    put_gap(facts, value_or_throw(parts_.reader.gaps_before(row.job.id, version->version, at, kGapsMet)));
    if (facts.gap) facts.skipped_behind = skipped_behind(parts_.reader, *facts.gap);
  }
  for (model::Freeze& freeze : value_or_throw(parts_.reader.freezes())) {
    const bool is_of = facts.gap ? facts.gap->reference == freeze.id : freeze.is_of(row.job.space);
    if (is_of && freeze.covers(at) && !facts.freeze) facts.freeze = std::move(freeze);
  }
  if (facts.gap && facts.gap->reason == model::Reason::Frozen) {
    const std::string key = model::freeze_key(facts.gap->reference, row.job.id, at);
    facts.made_up = value_or_throw(parts_.reader.run_of_key(model::kFreezePrincipal, key, nullptr));
  }
  return facts;
}

void JobServiceHandler::explain_tick(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                                     const std::string& space, const std::string& name, std::int64_t at_ms) {
  const store::JobRow row = value_or_throw(parts_.reader.get_job(space, name));
  const TickFacts facts = tick_facts(row, wall_from_ms(at_ms));
  const bool is_leaders = !facts.is_recorded && !head.forwarded && parts_.leader.snapshot() == nullptr;
  if (is_leaders && tell_by_leader(caller, out, head, space, name, at_ms)) return;
  put_tick_checks(caller, out, head, row, facts);
  const TickWords words = words_for(facts);
  out.__set_what(words.what);
  out.__set_sentence(words.sentence);
  if (facts.run) out.__set_run(facts.run->id.value);
  if (!facts.run && facts.made_up) out.__set_run(facts.made_up->value);
  if (!facts.run && facts.gap) out.__set_reason(std::string(model::name_of(facts.gap->reason)));
  if (!facts.run && !facts.gap && !words.reason.empty()) out.__set_reason(words.reason);
  if (facts.next) out.__set_next_ms(to_ms(*facts.next));
  const MomentWords& by = facts.is_planned ? facts.whose : facts.why;
  if (!by.entry.empty()) out.__set_entry(by.entry);
  if (by.calendar.empty()) return;
  out.__set_calendar(by.calendar);
  out.__set_calendar_version(by.calendar_version);
}

}  // namespace rota::master::api
