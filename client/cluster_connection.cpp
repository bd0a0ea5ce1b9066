#include "client/cluster_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/zk/leader_lookup.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"

namespace rota::client {

Result<rpc::Endpoint> Cluster::Connection::choose() {
  if (!options_.masters.empty()) {
    const std::string& text = options_.masters[next_++ % options_.masters.size()];
    tried_ = text;
    return rpc::parse_endpoint(text);
  }
  if (options_.zookeeper.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "where is the cluster? Give --masters host:port,... (or ROTA_MASTERS), or "
                "--zookeeper host:port,... (or ROTA_ZOOKEEPER)");
  }
  tried_ = "ZooKeeper " + options_.zookeeper;
  return ask_zookeeper();
}

Result<rpc::Endpoint> Cluster::Connection::ask_zookeeper() {
  zk::ClientOptions wanted;
  wanted.addresses = options_.zookeeper;
  wanted.operation_deadline = std::min(options_.deadline, Millis{5000});
  auto client = zk::connect_once(wanted);
  if (!client) {
    if (client.error().code == ErrorCode::InvalidArgument) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("\"{}\" is no list of ZooKeeper's servers; write host:port, separated by "
                              "commas",
                              options_.zookeeper));
    }
    return fail(client.error());
  }
  auto leader = zk::find_leader(**client, zk::Paths(options_.cluster));
  (*client)->close();
  if (!leader) {
    return fail(ErrorCode::NotLeader,
                fmt::format("no master of cluster '{}' leads now: {}", options_.cluster,
                            leader.error().message));
  }
  return rpc::Endpoint{leader->host, leader->port};
}

}  // namespace rota::client
