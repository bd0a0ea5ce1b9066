// What the leader asks of a worker (services.h). It only converts; all answers are the
// desk's.
#pragma once

#include <functional>

#include "worker/api/services.h"
#include "worker/desk/attempt_desk.h"
#include "worker/desk/work_shelf.h"

namespace rota::worker::api {

/// What it asks of the rest.
struct ServiceParts {
  desk::AttemptDesk& desk;
  std::function<bool(Millis)> wait_registered;      ///< the own node was read back
};

/// Thread: any (the server's pool). Throws thrift::RotaError only.
class WorkerServiceHandler final : public WorkerService {
 public:
  explicit WorkerServiceHandler(ServiceParts parts, std::size_t most_works = desk::WorkShelf::kMost)
      : parts_(std::move(parts)), works_(most_works) {}

  void hello(const Caller& caller, thrift::Inventory& answer,
             const thrift::HelloRequest& request) override;
  void dispatch(const Caller& caller, std::vector<thrift::DispatchAnswer>& answer,
                const thrift::DispatchRequest& request) override;
  void cancel(const Caller& caller, const thrift::CancelRequest& request) override;
  void inventory(const Caller& caller, thrift::Inventory& answer,
                 const thrift::HelloRequest& request) override;
  void drain(const Caller& caller, const thrift::DrainRequest& request) override;

 private:
  ServiceParts parts_;
  desk::WorkShelf works_;
};

}  // namespace rota::worker::api
