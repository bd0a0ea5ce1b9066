#include "worker/api/service_adapters.h"

#include <string>
#include <utility>

#include "WorkerService.h"
#include "common/rpc/edge.h"

namespace rota::worker::api {
namespace {

class WorkerAdapter final : public thrift::WorkerServiceIf {
 public:
  WorkerAdapter(std::shared_ptr<WorkerService> worker, rpc::Edge edge)
      : worker_(std::move(worker)), edge_(std::move(edge)) {}

  void hello(thrift::Inventory& answer, const thrift::HelloRequest& request) override {
    edge_.serve("hello", [&](const Caller& caller) { worker_->hello(caller, answer, request); });
  }
  void dispatch(std::vector<thrift::DispatchAnswer>& answer,
                const thrift::DispatchRequest& request) override {
    edge_.serve("dispatch",
                [&](const Caller& caller) { worker_->dispatch(caller, answer, request); });
  }
  void cancel(const thrift::CancelRequest& request) override {
    edge_.serve("cancel", [&](const Caller& caller) { worker_->cancel(caller, request); });
  }
  void inventory(thrift::Inventory& answer, const thrift::HelloRequest& request) override {
    edge_.serve("inventory",
                [&](const Caller& caller) { worker_->inventory(caller, answer, request); });
  }
  void drain(const thrift::DrainRequest& request) override {
    edge_.serve("drain", [&](const Caller& caller) { worker_->drain(caller, request); });
  }

 private:
  const std::shared_ptr<WorkerService> worker_;
  const rpc::Edge edge_;
};

}  // namespace

rpc::ProcessorOf make_processors(std::shared_ptr<WorkerService> service) {
  return [service](const std::string& peer) {
    auto adapter =
        std::make_shared<WorkerAdapter>(service, rpc::Edge(rpc::caller_of_connection(peer)));
    return std::make_shared<thrift::WorkerServiceProcessor>(std::move(adapter));
  };
}

}  // namespace rota::worker::api
