#include "master/api/definition_intake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/utf8.h"
#include "common/time/zones.h"
#include "common/wire/content_hash.h"
#include "common/wire/definition_rules.h"
#include "common/wire/job_wire.h"
#include "master/core/time/schedule.h"

namespace rota::master::api {
namespace {

using Problems = std::vector<std::string>;

Error all_of(const Problems& problems) {
  return Error(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

// Only cron schedules need one. A wrong name is refused for every kind: an edit may make it a cron.
core::ZonePtr zone_of(const model::Schedule& schedule, Problems& problems) {
  auto zone = timezone::load_zone(schedule.time_zone);
  if (zone) return *zone;
  problems.push_back("time_zone: " + zone.error().message);
  return nullptr;
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

Result<core::ApplyJob> accept_edit(const thrift::JobEdit& edit, const std::string& principal) {
  auto definition = wire::from_wire(edit.definition);
  if (!definition) return fail(definition.error());
  Problems problems = wire::definition_problems(*definition, true);
  for (auto& problem : core::validate_schedule(definition->rules.schedule)) {
    problems.push_back(std::move(problem));
  }
  core::ApplyJob event;
  event.zone = zone_of(definition->rules.schedule, problems);
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
  zone_of(definition_->rules.schedule, problems);  // it is read again at each takeover
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

Result<std::vector<WallTime>> next_ticks(const model::Schedule& schedule, WallTime anchor,
                                         WallTime after, std::int32_t count) {
  Problems problems = core::validate_schedule(schedule);
  const core::ZonePtr zone = zone_of(schedule, problems);
  if (!problems.empty()) return fail(all_of(problems));
  const auto compiled = core::compile(schedule, zone, anchor);
  if (!compiled) return fail(compiled.error());
  std::vector<WallTime> out;
  while (out.size() < static_cast<std::size_t>(count)) {
    const auto next = compiled->next_after(out.empty() ? after : out.back());
    if (!next) break;
    out.push_back(*next);
  }
  return out;
}

}  // namespace rota::master::api
