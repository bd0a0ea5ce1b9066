// P24: no bytes on a port crash or stall the process. Beside each attack a good client goes on; its
// p99 is printed.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "echo_service.h"
#include "test/support/stall_meter.h"

namespace rota::rpc::test {
namespace {

std::int64_t resident_kb() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * 4;
}

std::string frame(const std::string& body) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>((body.size() >> shift) & 0xFF);
  }
  return out + body;
}

std::string call_header(const std::string& method) {
  std::string out("\x80\x01\x00\x01", 4);
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>((method.size() >> shift) & 0xFF);
  }
  return out + method + std::string(4, '\0');
}

/// Calls while the attack goes on, then prints how long the calls took.
class GoodClient {
 public:
  /// The server may close a connection that is idle for `cut_after`: a call during such a stall does not count.
  explicit GoodClient(const Endpoint& to, Millis cut_after = testing::kPatience)
      : channel_(to), cut_after_(cut_after), thread_([this] { run(); }) {}
  ~GoodClient() {
    if (thread_.joinable()) finish("abandoned");
  }
  /// Gives the number of failed calls.
  int finish(const char* attack) {
    done_ = true;
    thread_.join();
    std::ranges::sort(took_us_);
    const auto p99 = took_us_.empty() ? 0 : took_us_[took_us_.size() * 99 / 100];
    fmt::print("hostile={} good_calls={} failed={} p99_us={}\n", attack, took_us_.size(), failed_,
               p99);
    return failed_;
  }

 private:
  void run() {
    while (!done_ || took_us_.size() < 50) {
      const auto began = BootClock::now();
      if (!echo(channel_, "good") && stalls_.within(began - cut_after_, BootClock::now()) < cut_after_ / 2) ++failed_;
      took_us_.push_back((BootClock::now() - began).count());
    }
  }

  EchoChannel channel_;
  const Millis cut_after_;
  const testing::StallMeter stalls_;
  std::atomic<bool> done_{false};
  std::vector<std::int64_t> took_us_;
  int failed_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("server: 1,000 seeded garbage frames and 2 GiB length fields do no harm") {
  EchoServer server;
  EchoChannel warm(server.endpoint());
  REQUIRE(echo(warm, "warm"));
  const auto before = resident_kb();
  GoodClient good(server.endpoint());
  std::mt19937_64 dice(20260101);
  for (int i = 0; i < 1000; ++i) {
    const UniqueFd fd = raw_connection(server.endpoint());
    REQUIRE(fd.is_open());
    std::string bytes(dice() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(dice());
    switch (i % 5) {
      case 0: send_raw(fd, bytes); break;                                    // no frame at all
      case 1: send_raw(fd, std::string("\x7F\xFF\xFF\xFF", 4) + bytes); break;  // 2 GiB frame
      case 2: send_raw(fd, frame(bytes)); break;                             // framed garbage
      case 3:  // a string of 2 GiB inside a small frame
        send_raw(fd, frame(call_header("cancel_run") + std::string("\x0B\x00\x03\x7F\xFF\xFF\xFF", 7)));
        break;
      default:  // a list of 2^31 - 1 structs
        send_raw(fd, frame(call_header("submit_many") +
                           std::string("\x0F\x00\x02\x0C\x7F\xFF\xFF\xFF", 8)));
    }
  }
  CHECK(good.finish("garbage") == 0);
  const auto grown = resident_kb() - before;
  fmt::print("hostile=garbage memory_grown_kb={}\n", grown);
  CHECK(grown < 50 * 1024);
  CHECK(echo(warm, "after"));
}

TEST_CASE("server: closes connections that are too slow, stall in a frame, or read no answers") {
  ServerOptions options;
  options.message_timeout = Millis{300};
  options.threads = 4;
  EchoServer server(options);
  GoodClient good(server.endpoint(), options.message_timeout);
  std::vector<UniqueFd> stalled;
  for (int i = 0; i < 64; ++i) {
    stalled.push_back(raw_connection(server.endpoint()));
    send_raw(stalled.back(), std::string("\x00\x00\x01\x00x", 5));
  }
  for (int i = 0; i < 3; ++i) {  // a byte now and then does not prolong it
    for (const UniqueFd& fd : stalled) send_raw(fd, "y");
  }
  for (const UniqueFd& fd : stalled) CHECK(is_closed_within(fd, testing::kPatience));
  CHECK(good.finish("drip") == 0);
}

TEST_CASE("server: 500 idle connections delay no other, and are closed when idle too long") {
  ServerOptions options;
  options.idle_timeout = Millis{1500};
  options.threads = 4;
  EchoServer server(options);
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 500; ++i) idle.push_back(raw_connection(server.endpoint()));
  GoodClient good(server.endpoint(), options.idle_timeout);
  CHECK(is_closed_within(idle.front(), testing::kPatience));
  CHECK(is_closed_within(idle.back(), testing::kPatience));
  CHECK(good.finish("idle_500") == 0);
}

TEST_CASE("server: when most places are taken, idle connections are closed") {
  ServerOptions options;
  options.max_connections = 64;
  EchoServer server(options);
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 64; ++i) idle.push_back(raw_connection(server.endpoint()));
  CHECK(is_closed_within(idle.front(), testing::kPatience));
  EchoChannel channel(server.endpoint());
  CHECK(echo(channel, "room"));
}

TEST_CASE("server: connections beyond the bound are closed at once") {
  ServerOptions options;
  options.max_connections = 8;
  EchoServer server(options);
  std::vector<UniqueFd> many;
  std::size_t closed = 0;
  for (int i = 0; i < 32; ++i) many.push_back(raw_connection(server.endpoint()));
  CHECK(testing::eventually([&] {
    closed += std::erase_if(many, [](const UniqueFd& fd) { return is_closed_within(fd, Millis{20}); });
    return closed >= 16;
  }));
}

TEST_CASE("server and channel: 150 MiB each way over one connection") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  const std::string large(3u << 20, 'x');
  for (int i = 0; i < 50; ++i) {
    const auto sent = echo(channel, large);
    REQUIRE(sent);
    CHECK(*sent == "7:3145728");
    const auto got = channel.call(
        [](thrift::JobServiceClient& client) {
          thrift::LogSlice slice;
          thrift::LogRequest request;
          request.limit_bytes = 3 << 20;
          client.read_log(slice, {}, request);
          return slice.bytes.size();
        },
        testing::kPatience);
    REQUIRE(got);
    CHECK(*got == 3u << 20);
  }
  CHECK(server.server.connections() == 1);
}

}  // namespace rota::rpc::test
