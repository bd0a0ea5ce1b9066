#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/rpc/channel_pool.h"
#include "echo_service.h"

namespace rota::rpc::test {
namespace {

using Pool = ChannelPool<thrift::JobServiceClient>;

CallResult<std::string> echo(Pool& pool, const Endpoint& to, const std::string& text,
                             Millis timeout = testing::kPatience) {
  return pool.call(
      to,
      [&](thrift::JobServiceClient& client) {
        std::string out;
        client.cancel_run(out, {}, 1, text);
        return out;
      },
      timeout);
}

}  // namespace

TEST_CASE("pool: many threads share few connections") {
  EchoServer server;
  Pool pool({4, 16, Millis{20'000}});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) good += echo(pool, server.endpoint(), "x") ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 600);
  CHECK(server.server.connections() <= 4);
  CHECK(pool.idle() <= 4);
  pool.forget(server.endpoint());
  CHECK(pool.idle() == 0);
}

TEST_CASE("pool: returns Overloaded when every connection is busy until the deadline") {
  EchoServer server;
  Pool pool({1, 16, Millis{20'000}});
  std::thread busy([&] { (void)echo(pool, server.endpoint(), "wait"); });
  while (server.server.connections() == 0) std::this_thread::yield();
  const auto answer = echo(pool, server.endpoint(), "x", Millis{50});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Overloaded);
  server.handler->gate.open();
  busy.join();
}

TEST_CASE("pool: keeps connections to a bounded number of peers") {
  Pool pool({2, 2, Millis{20'000}});
  std::vector<std::unique_ptr<EchoServer>> servers;
  for (int i = 0; i < 4; ++i) {
    servers.push_back(std::make_unique<EchoServer>());
    REQUIRE(echo(pool, servers.back()->endpoint(), "x"));
  }
  CHECK(pool.idle() == 2);
}

}  // namespace rota::rpc::test
