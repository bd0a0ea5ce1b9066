#include "common/rpc/edge.h"

#include "common/base/log.h"
#include "common/rpc/error_wire.h"
#include "common/rpc/method_rights.h"

namespace rota::rpc {

void Edge::admit(const char* method, const Caller& caller) {
  if (auto allowed = check_right(caller, method); !allowed) throw to_wire(allowed.error());
}

/// Everyday refusals (a wrong name, a stale version, not the leader) are the client's to show.
void Edge::log_refused(const char* method, const Caller& caller, const thrift::RotaError& refusal) {
  const bool is_denied = refusal.kind == thrift::ErrorKind::DENIED;
  const auto level = is_denied ? Severity::Warn : Severity::Debug;
  if (!is_denied && !log_enabled("api", level)) return;
  log_line("api", level, "a request was refused",
           {{"method", method},
            {"why", refusal.message},
            {"principal", caller.principal},
            {"from", caller.address},
            {"via", caller.via}});
}

thrift::RotaError Edge::unforeseen(const char* method, const Caller& caller,
                                   const std::exception& thrown) {
  log_error(
      "api", "a method failed in an unforeseen way",
      {{"method", method}, {"what", thrown.what()}, {"from", caller.address}, {"via", caller.via}});
  return to_wire(Error(ErrorCode::Internal, std::string("internal error: ") + thrown.what()));
}

}  // namespace rota::rpc
