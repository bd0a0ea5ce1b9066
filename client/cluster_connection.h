// Which master a Cluster asks next, and the connection to it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "client/cluster.h"
#include "common/base/result.h"
#include "common/rpc/channel.h"

namespace rota::client {

/// Knows which master to ask next. One connection at a time, to the leader if it is known.
class Cluster::Connection {
 public:
  explicit Connection(const ClusterOptions& options) : options_(options) {}

  /// A channel to the master to ask now; `of_leader`: to the leader, if it is known.
  Result<rpc::Channel<thrift::JobServiceClient>*> channel() {
    if (channel_) return channel_.get();
    auto address = hint_ ? Result<rpc::Endpoint>(*hint_) : choose();
    if (!address) return fail(address.error());
    hint_.reset();
    channel_ = std::make_unique<rpc::Channel<thrift::JobServiceClient>>(*address);
    return channel_.get();
  }

  /// The last answer named the leader, or the connection failed: ask another master next time.
  void move_on(const std::string& leader) {
    channel_.reset();
    if (auto address = rpc::parse_endpoint(leader)) hint_ = *address;
  }

  std::string tried() const { return tried_; }

 private:
  Result<rpc::Endpoint> choose();
  Result<rpc::Endpoint> ask_zookeeper();

  const ClusterOptions& options_;
  std::unique_ptr<rpc::Channel<thrift::JobServiceClient>> channel_;
  std::optional<rpc::Endpoint> hint_;
  std::size_t next_ = 0;
  std::string tried_;
};

}  // namespace rota::client
