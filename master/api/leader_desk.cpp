#include "master/api/leader_desk.h"

namespace rota::master::api {

rpc::CallResult<core::ReplyBody> LeaderDesk::wait(Token token, MonoTime deadline) {
  core::ReplyBody body = replies_.wait(token, deadline);
  if (const auto* error = std::get_if<Error>(&body)) return refused(*error);
  return body;
}

rpc::CallError LeaderDesk::not_leader() const {
  rpc::CallError out;
  const auto leader = port_.leader();
  if (leader && !leads()) {
    out.leader = rpc::to_string(rpc::Endpoint{leader->host, leader->port});
    out.error = Error(ErrorCode::NotLeader, "this master does not lead; ask " + out.leader);
  } else {
    const std::string why = port_.why_nobody_leads();
    out.error = Error(ErrorCode::NotLeader,
                      (why.empty() ? "no master leads yet" : why) + "; repeat in a moment");
    out.retry_after = kRetrySoon;
  }
  out.answered = true;
  return out;
}

tl::unexpected<rpc::CallError> LeaderDesk::refused(const Error& error) const {
  if (error.code == ErrorCode::NotLeader) {
    rpc::CallError out = not_leader();
    out.error.message = error.message.empty() ? out.error.message : error.message;
    return tl::unexpected<rpc::CallError>(std::move(out));
  }
  rpc::CallError out;
  out.error = error;
  out.answered = true;
  if (error.code == ErrorCode::Overloaded) out.retry_after = 4 * kRetrySoon;
  const bool waits_for_store = error.code == ErrorCode::Overloaded || error.code == ErrorCode::UnknownOutcome;
  const std::string silence = waits_for_store ? port_.database_silence() : "";
  if (!silence.empty()) out.error.message += "; " + silence;
  return tl::unexpected<rpc::CallError>(std::move(out));
}

}  // namespace rota::master::api
