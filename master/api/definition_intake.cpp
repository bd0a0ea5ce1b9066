#include "master/api/definition_intake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/time/zones.h"
#include "common/wire/content_hash.h"
#include "common/wire/definition_rules.h"
#include "common/wire/job_wire.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/over_entries.h"
#include "master/core/time/schedule.h"
#include "master/store/zone_source.h"

namespace rota::master::api {
namespace {

using Problems = std::vector<std::string>;

Error all_of(const Problems& problems) {
  return Error(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

// Only crons and entries need them. A wrong name is refused for every kind: an edit may make it a cron.
model::Zones zones_of(const model::Schedule& schedule, Problems& problems) {
  auto zone = timezone::load_zone(schedule.time_zone);
  auto zones =
      zone ? store::zones_of(schedule, &timezone::load_zone) : Result<model::Zones>(fail(zone.error()));
  if (zones) return std::move(*zones);
  if (!zone) problems.push_back("time_zone: " + zone.error().message);
  for (std::size_t i = 0; i < schedule.entries.size(); ++i) {
    const auto entry = model::entry_from_text(schedule.entries[i]);
    const auto own = entry ? timezone::load_zone(entry->time_zone) : Result<model::ZonePtr>();
    if (!own) problems.push_back(fmt::format("schedule[{}].time_zone: {}", i, own.error().message));
  }
  return {};
}

void find_missing_calendars(const model::JobDefinition& job, const core::CalendarSource& calendars,
                            Problems& problems) {
  const std::vector<std::string>& lines = job.rules.schedule.entries;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto entry = model::entry_from_text(lines[i]);
    if (!entry) continue;
    for (const std::string& name : entry->calendars) {
      if (calendars && calendars(name)) continue;
      problems.push_back(
          fmt::format("schedule[{}].calendar: there is no calendar {} in namespace {}; apply it first: rota "
                      "calendar apply -f FILE", i, shown_text(name), job.space));
    }
  }
}

/// Entries that have moments from now on, all of which their calendars close: they cover no day any more.
void find_over(const model::Schedule& schedule, const core::CompiledEntries& compiled, WallTime now,
               Problems& problems) {
  for (const std::size_t i : core::over_entries(schedule, compiled, now)) {
    const auto entry = model::entry_from_text(schedule.entries[i]);
    problems.push_back(fmt::format("schedule[{}] can never fire again: calendar {} leaves no day open from "
                                   "now on; let it cover more days first (rota calendar show)",
                                   i, fmt::join(entry->calendars, ", ")));
  }
}

/// Entries that can never fire; a cron by itself was looked at when it was read.
void find_never(const model::JobDefinition& job, const model::Zones& zones,
                const core::CalendarSource& calendars, std::optional<WallTime> now, Problems& problems) {
  if (!problems.empty() || job.rules.schedule.kind != model::ScheduleKind::Entries) return;
  const auto compiled =
      core::compile(job.rules.schedule, zones, {}, core::job_hash(job.space, job.name), calendars);
  if (!compiled) return problems.push_back(compiled.error().message);
  if (std::string why = core::why_never(*compiled->entries(), {}); !why.empty())
    return problems.push_back(std::move(why));
  if (now) find_over(job.rules.schedule, *compiled->entries(), *now, problems);
}

/// As its runs see it: their own parameters laid over the definition's.
model::JobDefinition with_parameters(model::JobDefinition definition, const model::Parameters& over) {
  for (const auto& [name, value] : over) definition.work.parameters.insert_or_assign(name, value);
  return definition;
}

std::string name_of_one_off(const model::JobWork& work) {
  if (work.handler != "command") return work.handler;
  if (work.argv.empty()) return "script";
  const std::string& program = work.argv.front();
  const std::string name(cut_text(std::string_view(program).substr(program.rfind('/') + 1), 60));
  return wire::validate_request_key(name) && !name.empty() ? name : "command";
}

}  // namespace

Result<core::ApplyJob> accept_edit(const thrift::JobEdit& edit, const std::string& principal,
                                   const core::CalendarSource& calendars, std::optional<WallTime> now,
                                   std::vector<std::string>* told) {
  auto definition = wire::from_wire(edit.definition);
  if (!definition) return fail(definition.error());
  Problems problems = wire::definition_problems(*definition, true);
  for (auto& problem : core::validate_schedule(definition->rules.schedule)) {
    problems.push_back(std::move(problem));
  }
  core::ApplyJob event;
  event.zone = zones_of(definition->rules.schedule, problems);
  find_missing_calendars(*definition, calendars, problems);
  find_never(*definition, event.zone, calendars, now, problems);
  if (told != nullptr) *told = problems;
  if (!problems.empty()) return fail(all_of(problems));
  event.principal = principal;
  event.definition = std::make_shared<const model::JobDefinition>(std::move(*definition));
  if (edit.__isset.expected_version) event.expected_version = edit.expected_version;
  return event;
}

Result<void> SubmitIntake::read_definition(const thrift::SubmitItem& item) {
  if (defined_ != nullptr && defined_->definition == item.definition) return {};
  defined_ = checked_ = nullptr;
  auto definition = wire::from_wire(item.definition);
  if (!definition) return fail(definition.error());
  if (definition->name.empty()) definition->name = name_of_one_off(definition->work);
  job_ = wire::one_off_id(*definition);
  definition_ = std::make_shared<const model::JobDefinition>(std::move(*definition));
  defined_ = &item;
  return {};
}

Result<void> SubmitIntake::read_parameters(const thrift::SubmitItem& item) {
  if (checked_ != nullptr && checked_->parameters == item.parameters) return {};
  checked_ = nullptr;
  hash_.clear();
  if (auto checked = wire::validate_parameters(item.parameters); !checked) return checked;
  Problems problems = wire::definition_problems(with_parameters(*definition_, item.parameters), false);
  zones_of(definition_->rules.schedule, problems);  // it is read again at each takeover
  if (!problems.empty()) return fail(all_of(problems));
  parameters_.reset();
  if (!item.parameters.empty()) parameters_ = std::make_shared<const model::Parameters>(item.parameters);
  checked_ = &item;
  return {};
}

Result<core::SubmitItem> SubmitIntake::accept(const thrift::SubmitItem& item) {
  if (auto read = read_definition(item); !read) return fail(read.error());
  if (auto read = read_parameters(item); !read) return fail(read.error());
  if (auto checked = wire::validate_request_key(item.request_key); !checked) return fail(checked.error());
  core::SubmitItem out;
  out.job = job_;
  out.definition = definition_;
  out.parameters = parameters_;
  if (item.request_key.empty()) return out;
  if (hash_.empty()) hash_ = wire::submit_hash(*definition_, item.parameters);
  out.request_key = item.request_key;
  out.request_hash = hash_;
  return out;
}

Result<core::SubmitItem> accept_submit(const thrift::SubmitItem& item) { return SubmitIntake().accept(item); }

Result<NextTicks> next_ticks(const model::Schedule& schedule, std::uint64_t hash, WallTime anchor,
                             WallTime after, std::int32_t count, const core::CalendarSource& calendars) {
  Problems problems = core::validate_schedule(schedule);
  const model::Zones zones = zones_of(schedule, problems);
  if (!problems.empty()) return fail(all_of(problems));
  const auto compiled = core::compile(schedule, zones, anchor, hash, calendars);
  if (!compiled) return fail(compiled.error());
  NextTicks out;
  while (out.at.size() < static_cast<std::size_t>(count)) {
    const auto next = compiled->next_after(out.at.empty() ? after : out.at.back());
    if (!next) break;
    out.at.push_back(*next);
    if (compiled->entries() == nullptr) continue;
    out.entries.push_back(compiled->names_at(*next));
    if (compiled->entries()->has_jitter()) {
      out.starts.push_back(*next + compiled->entries()->jitter_at(*next, hash));
    }
  }
  return out;
}

}  // namespace rota::master::api
