// A deleted job comes back. The store still has all its rows; the loop has forgotten the job and
// gets them from here.
#include "common/time/zones.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/core/event.h"
#include "master/store/zone_source.h"

namespace rota::master::api {
namespace {

/// Empty where they are not known: who compiles the schedule says so.
model::Zones zones_of(const model::Schedule& schedule) {
  auto zones = store::zones_of(schedule, &timezone::load_zone);
  return zones ? std::move(*zones) : model::Zones();
}

}  // namespace

thrift::JobEdited JobServiceHandler::undelete_here(const Caller& caller, const std::string& space,
                                                   const std::string& name, MonoTime deadline) {
  store::JobRow row = value_or_throw(parts_.reader.last_deleted(space, name));
  core::UndeleteJob event;
  event.principal = caller.principal;
  event.zone = zones_of(row.version.definition->rules.schedule);
  const WallTime deleted = row.job.changed;
  const bool is_paused = !row.version.enabled;
  event.job = std::move(row.job);
  event.version = std::move(row.version);
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* applied = std::get_if<core::JobApplied>(&reply);
  if (applied == nullptr) {
    throw rpc::to_wire(unexpected_reply());
  }
  thrift::JobEdited out;
  out.__set_id(applied->job.value);
  out.__set_version(applied->version);
  out.__set_what("undeleted");
  out.__set_deleted_ms(to_ms(deleted));
  out.__set_state(is_paused ? "paused" : "enabled");
  return out;
}

void JobServiceHandler::undelete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                                     const std::string& space, const std::string& name) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    out = undelete_here(caller, space, name, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::JobEdited answer;
    client.undelete_job(answer, onward, space, name);
    return answer;
  }));
}

}  // namespace rota::master::api
