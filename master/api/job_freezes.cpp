// Freezes: begin, end, list; and what happened, or will happen, at one moment of a job.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/time/zones.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/verify/planned_ticks.h"

namespace rota::master::api {
namespace {

constexpr Millis kLongestFreeze = std::chrono::hours(24 * 366);
constexpr WallTime kEndOfTime = wall_from_ms(253'402'300'799'999);  // of the year 9999

thrift::FreezeInfo to_wire(const model::Freeze& freeze, WallTime now) {
  thrift::FreezeInfo out;
  out.__set_id(freeze.id);
  out.__set_space(freeze.space);
  out.__set_from_ms(to_ms(freeze.from));
  out.__set_until_ms(to_ms(freeze.end()));
  out.__set_principal(freeze.principal);
  out.__set_why(freeze.why);
  out.__set_state(freeze.done ? "over" : now < freeze.end() ? "in_force" : "making_up");
  return out;
}

Result<void> check_freeze(const std::string& space, WallTime until, WallTime now) {
  if (space.size() > 64) return fail(ErrorCode::InvalidArgument, "namespace: at most 64 bytes");
  if (until > now + kLongestFreeze) {
    return fail(ErrorCode::InvalidArgument, "until: a freeze lasts at most 366 days");
  }
  return {};
}

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
  auto planned = value_or_throw(
      verify::PlannedTicks::of(version, &timezone::load_zone, kEndOfTime, from, calendars));
  return planned.next();
}

void put_gap(TickFacts& facts, const std::vector<model::Gap>& gaps) {
  for (const model::Gap& gap : gaps) {
    const bool covers = gap.from <= facts.at && facts.at <= gap.to;
    if (covers && facts.is_planned) facts.gap = gap;
  }
}

}  // namespace

std::vector<thrift::FreezeInfo> to_wire(const std::vector<model::Freeze>& freezes, WallTime now) {
  std::vector<thrift::FreezeInfo> out;
  for (const model::Freeze& freeze : freezes) out.push_back(to_wire(freeze, now));
  return out;
}

template <typename Event>
thrift::FreezeInfo JobServiceHandler::freeze_here(Event event, MonoTime deadline) {
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* taken = std::get_if<core::FreezeTaken>(&reply);
  if (taken == nullptr) throw rpc::to_wire(unexpected_reply());
  return to_wire(taken->freeze, parts_.clock.wall());
}

void JobServiceHandler::begin_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                                     const std::string& space, std::int64_t until_ms,
                                     const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_freeze(space, wall_from_ms(until_ms), parts_.clock.wall()));
  if (desk_.leads()) {
    const std::string kept(cut_text(why, kMaxWhyBytes));
    out = freeze_here(core::BeginFreeze{{}, caller.principal, space, wall_from_ms(until_ms), kept}, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::FreezeInfo answer;
    client.begin_freeze(answer, onward, space, until_ms, why);
    return answer;
  }));
}

void JobServiceHandler::end_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                                   const std::string& space) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    out = freeze_here(core::EndFreeze{{}, caller.principal, space}, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::FreezeInfo answer;
    client.end_freeze(answer, onward, space);
    return answer;
  }));
}

void JobServiceHandler::list_freezes(const Caller&, std::vector<thrift::FreezeInfo>& out, const Head&) {
  out = to_wire(value_or_throw(parts_.reader.freezes()), parts_.clock.wall());
}

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
  const WallTime ahead = std::max(at, facts.now) + Millis{1};
  if (!versions.empty()) facts.next = first_planned(parts_.reader, versions.back(), ahead);
  const auto due = row.job.memory.due;
  if (due == at) facts.is_planned = true;
  if (due && ahead <= *due) facts.next = std::min(facts.next.value_or(*due), *due);
  auto runs = value_or_throw(parts_.reader.tick_runs_of(row.job.id, at - Millis{1}, at, 1));
  if (!runs.empty()) facts.run = std::move(runs.front());
  if (facts.is_recorded) put_gap(facts, value_or_throw(parts_.reader.gaps_of(row.job.id)));
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

void JobServiceHandler::explain_tick(const Caller&, thrift::TickAnswer& out, const Head&,
                                     const std::string& space, const std::string& name, std::int64_t at_ms) {
  const store::JobRow row = value_or_throw(parts_.reader.get_job(space, name));
  const TickFacts facts = tick_facts(row, wall_from_ms(at_ms));
  const TickWords words = words_for(facts);
  out.__set_what(words.what);
  out.__set_sentence(words.sentence);
  if (facts.run) out.__set_run(facts.run->id.value);
  if (!facts.run && facts.made_up) out.__set_run(facts.made_up->value);
  if (!facts.run && facts.gap) out.__set_reason(std::string(model::name_of(facts.gap->reason)));
  if (facts.next) out.__set_next_ms(to_ms(*facts.next));
}

}  // namespace rota::master::api
