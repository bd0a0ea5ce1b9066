// What a worker serves, as its own code sees it: the methods of thrift/worker.thrift, each with the
// Caller first. service_adapters.h turns Thrift's calls into these. A test walks the IDL and fails
// for a method that is missing here or has no Caller.
#pragma once

#include <vector>

#include "common/base/caller.h"
#include "worker_types.h"

namespace rota::worker::api {

/// What a leader asks of a worker. Thread: any. Methods throw RotaError and nothing else that the
/// leader should see.
class WorkerService {
 public:
  virtual ~WorkerService() = default;

  virtual void hello(const Caller& caller, thrift::Inventory& answer,
                     const thrift::HelloRequest& request) = 0;
  virtual void dispatch(const Caller& caller, std::vector<thrift::DispatchAnswer>& answer,
                        const thrift::DispatchRequest& request) = 0;
  virtual void cancel(const Caller& caller, const thrift::CancelRequest& request) = 0;
  virtual void inventory(const Caller& caller, thrift::Inventory& answer,
                         const thrift::HelloRequest& request) = 0;
  virtual void drain(const Caller& caller, const thrift::DrainRequest& request) = 0;
};

}  // namespace rota::worker::api
