// The connection to the leader's ReportService, which follows hello: another address, another
// connection.
#pragma once

#include <optional>
#include <utility>

#include "ReportService.h"
#include "common/rpc/channel.h"
#include "worker/run/leader_address.h"

namespace rota::worker::report {

/// Thread: one at a time.
class LeaderChannel {
 public:
  explicit LeaderChannel(const run::LeaderAddress& leader) : leader_(leader) {}

  /// NotLeader (surely not done) while no leader is known.
  template <typename Use>
  auto call(Use&& use, Millis timeout)
      -> rpc::CallResult<std::invoke_result_t<Use, thrift::ReportServiceClient&>> {
    const run::KnownLeader known = leader_.get();
    if (known.address.port == 0) {
      rpc::CallError nobody;
      nobody.error = Error(ErrorCode::NotLeader, "no leader has said hello yet");
      return tl::unexpected<rpc::CallError>(std::move(nobody));
    }
    const rpc::Endpoint peer{known.address.host, known.address.port};
    if (!channel_ || channel_->peer() != peer) channel_.emplace(peer);
    return channel_->call(std::forward<Use>(use), timeout);
  }

 private:
  const run::LeaderAddress& leader_;
  std::optional<rpc::Channel<thrift::ReportServiceClient>> channel_;
};

}  // namespace rota::worker::report
