#include <doctest/doctest.h>

#include <thread>

#include "echo_service.h"
#include "test/support/loopback.h"
#include "test/support/stall_meter.h"

namespace rota::rpc::test {

TEST_CASE("channel: returns answers, many times on one connection") {
  EchoServer server;
  REQUIRE(server.started);
  EchoChannel channel(server.endpoint());
  for (int i = 0; i < 100; ++i) {
    const auto answer = echo(channel, "hello");
    REQUIRE(answer);
    CHECK(*answer == "7:hello");
  }
  CHECK(server.server.connections() == 1);
}

TEST_CASE("channel: passes on the handler's error, with the leader's address") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  const auto answer = echo(channel, "fail");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().answered);
  CHECK(answer.error().error.code == ErrorCode::NotLeader);
  CHECK(answer.error().leader == "127.0.0.1:7777");
  CHECK(answer.error().retry_after == Millis{50});
  CHECK(channel.is_open());
  CHECK(echo(channel, "again"));
}

TEST_CASE("channel: a refused connection means certainly not done") {
  EchoChannel channel({"127.0.0.1", testing::free_port()});
  const auto answer = echo(channel, "x");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Unavailable);
  CHECK(answer.error().refused);
  CHECK_FALSE(answer.error().answered);
}

TEST_CASE("channel: a sent request without an answer may have been done") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  const testing::StallMeter stalls;
  CallResult<std::string> answer;
  for (const std::int64_t timeout_ms : testing::kGrowingMs) {
    const auto began = BootClock::now();
    answer = echo(channel, "wait", Millis{timeout_ms});
    CHECK(stalls.fair_since(began) < Millis{timeout_ms} + std::chrono::seconds{2});
    REQUIRE_FALSE(answer);
    if (answer.error().error.code != ErrorCode::Unavailable) break;  // else the time was over before it was sent
  }
  CHECK(answer.error().error.code == ErrorCode::UnknownOutcome);
  CHECK_FALSE(channel.is_open());
  server.handler->gate.open();
  CHECK(echo(channel, "again"));
}

TEST_CASE("channel: connects again by itself after the server was restarted") {
  ServerOptions options;
  options.port = testing::free_port();  // so that nobody else is given it while the server is away
  auto first = std::make_unique<EchoServer>(options);
  EchoChannel channel(first->endpoint());
  REQUIRE(echo(channel, "one"));
  first.reset();
  EchoServer second(options);
  REQUIRE(second.started);
  const auto answer = echo(channel, "two");
  REQUIRE(answer);
  CHECK(*answer == "7:two");
}

TEST_CASE("channel: refuses a request that no server would accept") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  const auto answer = echo(channel, std::string(5u << 20, 'x'));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::InvalidArgument);
  CHECK(echo(channel, "small"));
}

TEST_CASE("channel: a method that the server does not know is unsupported") {
  class Older final : public apache::thrift::TProcessor {
   public:
    bool process(std::shared_ptr<apache::thrift::protocol::TProtocol> in,
                 std::shared_ptr<apache::thrift::protocol::TProtocol> out, void*) override {
      std::string name;
      apache::thrift::protocol::TMessageType type{};
      std::int32_t id = 0;
      in->readMessageBegin(name, type, id);
      in->skip(apache::thrift::protocol::T_STRUCT);
      in->readMessageEnd();
      apache::thrift::TApplicationException unknown(
          apache::thrift::TApplicationException::UNKNOWN_METHOD, "unknown");
      out->writeMessageBegin(name, apache::thrift::protocol::T_EXCEPTION, id);
      unknown.write(out.get());
      out->writeMessageEnd();
      out->getTransport()->writeEnd();
      out->getTransport()->flush();
      return true;
    }
  };
  Server server(std::make_shared<Older>(), {});
  REQUIRE(server.start());
  EchoChannel channel({"127.0.0.1", server.port()});
  const auto answer = echo(channel, "x");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Unsupported);
}

TEST_CASE("server: a taken port is an error, stopping twice is fine, a stopped server stays stopped") {
  EchoServer first;
  ServerOptions options;
  options.port = first.server.port();
  EchoServer second(options);
  REQUIRE_FALSE(second.started);
  CHECK(second.started.error().code == ErrorCode::Unavailable);
  CHECK(second.started.error().message.find(std::to_string(options.port)) != std::string::npos);
  first.server.stop();
  first.server.stop();
  CHECK_FALSE(first.server.start());
}

TEST_CASE("server: stops at once after its start, many times") {
  for (int i = 0; i < 20; ++i) {
    EchoServer server;
    REQUIRE(server.started);
  }
}

TEST_CASE("server: a stop waits for running handlers") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  std::thread caller([&] { (void)echo(channel, "wait"); });
  while (server.server.connections() == 0) std::this_thread::yield();
  std::thread opener([&] { server.handler->gate.open(); });
  server.server.stop();
  opener.join();
  caller.join();
  CHECK_FALSE(echo(channel, "after"));
}

TEST_CASE("endpoint: reads what people write and refuses the rest") {
  CHECK(parse_endpoint("127.0.0.1:7400")->port == 7400);
  CHECK(parse_endpoint("[::1]:1")->host == "::1");
  CHECK(to_string(Endpoint{"::1", 1}) == "[::1]:1");
  for (const char* wrong : {"", "host", "host:", ":1", "host:0", "host:65536", "host:1x"}) {
    CHECK_FALSE(parse_endpoint(wrong));
  }
}

}  // namespace rota::rpc::test
