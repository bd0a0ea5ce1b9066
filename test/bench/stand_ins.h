// Light workers, a great many in one process: each has an ephemeral node of its own, answers hello
// and dispatch, reports each attempt as succeeded at once and renews once a second, on connections
// of its own to the leader. They share a ZooKeeper session and a listening port, and write no beats
// (the leader vouches).
#pragma once

#include <JobService.h>
#include <ReportService.h>
#include <WorkerService.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/model/worker.h"
#include "common/rpc/channel.h"
#include "common/rpc/server.h"
#include "common/zk/client.h"

namespace rota::bench {

struct StandInOptions {
  std::string zookeeper;
  std::string cluster = "rota";
  std::string pool = "default";
  int count = 2;
  int slots = 1;      ///< of each
  std::string names;  ///< part of their names; empty: at random
};

/// One of them. Guarded by the group's mutex, except its channels: one thread uses each.
struct StandIn {
  using Channel = rpc::Channel<thrift::ReportServiceClient>;
  model::WorkerKey key;
  std::deque<thrift::Report> reports;  ///< not acknowledged yet, the oldest first
  std::unique_ptr<Channel> to_report, to_renew;
};

/// Owner: main. Thread: start and stop by main; the service by the server's pool.
class StandIns final : private thrift::WorkerServiceNull {
 public:
  explicit StandIns(StandInOptions options) : options_(std::move(options)) {}
  ~StandIns() override { stop(); }

  /// Serves, registers all of them, and begins to renew and report. Unavailable: ZooKeeper.
  Result<void> start();
  /// Their nodes go at once. Twice is fine.
  void stop();

 private:
  /// Workers that one thread reports for.
  struct Group {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::vector<StandIn*> workers;
  };

  void hello(thrift::Inventory& answer, const thrift::HelloRequest& request) override;
  void inventory(thrift::Inventory& answer, const thrift::HelloRequest& request) override;
  void dispatch(std::vector<thrift::DispatchAnswer>& answer,
                const thrift::DispatchRequest& request) override;

  Result<void> register_all();
  void make_workers();
  StandIn* find(const std::string& id);
  Group& group_of(const StandIn& worker);
  void report_for(Group& group, std::stop_token stop);
  void report_once(Group& group, StandIn& worker);
  void renew_some(std::size_t first, std::size_t step, std::stop_token stop);
  void renew(StandIn& worker);
  StandIn::Channel* channel_of(std::unique_ptr<StandIn::Channel>& channel);

  const StandInOptions options_;
  std::vector<StandIn> workers_;
  std::map<std::string, StandIn*> by_id_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::mutex leader_mutex_;
  rpc::Endpoint leader_;
  std::int64_t epoch_ = 0;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<zk::Client> zookeeper_;
  std::vector<std::jthread> threads_;  ///< last: they use all others
};

}  // namespace rota::bench
