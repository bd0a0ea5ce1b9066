// Freezes: begin, end, list.
#include <fmt/format.h>

#include "common/base/utf8.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr Millis kLongestFreeze = std::chrono::hours(24 * 366);

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

}  // namespace rota::master::api
