// The worker's Thrift service: what the leader asks of a worker. It stores an epoch before it answers
// in its name, and converts; all decisions are the attempt table's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "WorkerService.h"
#include "worker/run/epoch_keeper.h"
#include "worker/run/leader_address.h"
#include "worker/run/runner.h"

namespace rota::worker::api {

/// What it asks of the rest.
struct ServiceParts {
  run::Runner& runner;
  run::EpochKeeper& epochs;
  run::LeaderAddress& leader;
  std::function<bool(Millis)> wait_registered;      ///< the own node was read back
  std::function<std::string()> cluster_uuid;        ///< as ZooKeeper says; empty: unknown
  std::function<bool()> is_overloaded;              ///< outbox full: nothing new is taken
  /// As the leader says; order: of the telling, unset when it does not count them.
  std::function<void(bool draining, std::optional<std::int64_t> order)> set_drained;
  std::function<model::DrainAck()> drain_ack;
};

/// Thread: any (the server's pool). Throws thrift::RotaError only.
class WorkerService final : public thrift::WorkerServiceIf {
 public:
  explicit WorkerService(ServiceParts parts) : parts_(std::move(parts)) {}

  void hello(thrift::Inventory& answer, const thrift::HelloRequest& request) override;
  void dispatch(std::vector<thrift::DispatchAnswer>& answer,
                const thrift::DispatchRequest& request) override;
  void cancel(const thrift::CancelRequest& request) override;
  void inventory(thrift::Inventory& answer, const thrift::HelloRequest& request) override;
  void drain(const thrift::DrainRequest& request) override;

 private:
  void learn_leader(const thrift::HelloRequest& request);
  thrift::Inventory all_held() const;
  std::vector<run::OrderAnswer> answer_orders(const run::Envelope& envelope,
                                              std::vector<run::Order> orders);

  ServiceParts parts_;
};

}  // namespace rota::worker::api
