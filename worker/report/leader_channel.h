// The connection to the leader's ReportService, which follows hello: another address, another
// connection.
#pragma once

#include <optional>
#include <utility>

#include "ReportService.h"
#include "common/rpc/channel.h"
#include "worker/desk/leader_address.h"

namespace rota::worker::report {

/// Thread: one at a time.
class LeaderChannel {
 public:
  explicit LeaderChannel(const desk::LeaderAddress& leader) : leader_(leader) {}

  /// NotLeader (surely not done) while no leader is known.
  template <typename Use>
  auto call(Use&& use, Millis timeout)
      -> rpc::CallResult<std::invoke_result_t<Use, thrift::ReportServiceClient&>> {
    const desk::KnownLeader known = used_ = leader_.get();
    if (known.address.port == 0) {
      rpc::CallError nobody;
      nobody.error = Error(ErrorCode::NotLeader, "no leader has said hello yet");
      return tl::unexpected<rpc::CallError>(std::move(nobody));
    }
    const rpc::Endpoint peer{known.address.host, known.address.port};
    if (!channel_ || channel_->peer() != peer) channel_.emplace(peer);
    return channel_->call(std::forward<Use>(use), timeout);
  }

  /// For a pause without a call before it.
  void refresh() { used_ = leader_.get(); }
  /// The pause after a failed call: over at once when another leader says hello.
  void pause(Millis at_most, std::stop_token stop) const {
    leader_.wait_other_than(used_, at_most, std::move(stop));
  }

 private:
  const desk::LeaderAddress& leader_;
  desk::KnownLeader used_;            ///< in the last call
  std::optional<rpc::Channel<thrift::ReportServiceClient>> channel_;
};

}  // namespace rota::worker::report
