// The worker's Thrift service: what the leader asks of a worker. It only converts; all answers are the
// desk's.
#pragma once

#include <functional>

#include "WorkerService.h"
#include "worker/desk/attempt_desk.h"

namespace rota::worker::api {

/// What it asks of the rest.
struct ServiceParts {
  desk::AttemptDesk& desk;
  std::function<bool(Millis)> wait_registered;      ///< the own node was read back
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
  ServiceParts parts_;
};

}  // namespace rota::worker::api
