// A worker's service learns who called it.
#include <doctest/doctest.h>

#include <mutex>

#include "WorkerService.h"
#include "common/rpc/channel.h"
#include "test/support/patience.h"
#include "worker/api/service_adapters.h"

namespace rota::worker::api {
namespace {

class NotedCallers final : public WorkerService {
 public:
  void hello(const Caller& caller, thrift::Inventory&, const thrift::HelloRequest&) override { note(caller); }
  void dispatch(const Caller& caller, std::vector<thrift::DispatchAnswer>&, const thrift::DispatchRequest&) override {
    note(caller);
  }
  void cancel(const Caller& caller, const thrift::CancelRequest&) override { note(caller); }
  void inventory(const Caller& caller, thrift::Inventory&, const thrift::HelloRequest&) override { note(caller); }
  void drain(const Caller& caller, const thrift::DrainRequest&) override { note(caller); }

  std::vector<Caller> all() {
    const std::scoped_lock lock(mutex_);
    return callers_;
  }

 private:
  void note(const Caller& caller) {
    const std::scoped_lock lock(mutex_);
    callers_.push_back(caller);
  }

  std::mutex mutex_;
  std::vector<Caller> callers_;
};

}  // namespace

TEST_CASE("worker api: each method learns the address of its own connection's client") {
  auto noted = std::make_shared<NotedCallers>();
  rpc::Server server(make_processors(noted), {});
  REQUIRE(server.start());
  const rpc::Endpoint endpoint{"127.0.0.1", server.port()};
  rpc::Channel<thrift::WorkerServiceClient> one(endpoint);
  rpc::Channel<thrift::WorkerServiceClient> other(endpoint);
  CHECK(one.call([](auto& client) { client.cancel({}); }, testing::kPatience));
  CHECK(one.call([](auto& client) { client.drain({}); }, testing::kPatience));
  CHECK(one.call([](auto& client) { thrift::Inventory held; client.hello(held, {}); }, testing::kPatience));
  CHECK(one.call([](auto& client) { thrift::Inventory held; client.inventory(held, {}); }, testing::kPatience));
  CHECK(other.call([](auto& client) { std::vector<thrift::DispatchAnswer> answers; client.dispatch(answers, {}); },
                   testing::kPatience));
  const std::vector<Caller> callers = noted->all();
  REQUIRE(callers.size() == 5);
  for (const Caller& caller : callers) {
    CHECK(caller.principal == "local");
    CHECK(caller.address.starts_with("127.0.0.1:"));
  }
  for (std::size_t i = 1; i < 4; ++i) CHECK(callers[i].address == callers[0].address);
  CHECK(callers[4].address != callers[0].address);
}

}  // namespace rota::worker::api
