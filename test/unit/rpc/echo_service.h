// A small server for the tests of rpc: what its methods do is told by their arguments.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "JobService.h"
#include "common/base/unique_fd.h"
#include "common/rpc/channel.h"
#include "common/rpc/server.h"
#include "test/support/patience.h"

namespace rota::rpc::test {

/// A latch that a handler waits at.
class Gate {
 public:
  void open() {
    {
      std::scoped_lock lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class EchoHandler final : public thrift::JobServiceNull {
 public:
  static constexpr std::int64_t kAnswersBroken = 13;

  void cancel_run(std::string& out, const thrift::RequestHead&, std::int64_t run,
                  const std::string& why) override {
    if (why == "wait") gate.wait();
    if (run == kAnswersBroken) {
      out = "gr\xC3\xBC\xFFn";
      return;
    }
    if (why == "fail") {
      thrift::RotaError error;
      error.kind = thrift::ErrorKind::NOT_LEADER;
      error.message = "ask another";
      error.leader = "127.0.0.1:7777";
      error.retry_after_ms = 50;
      throw error;
    }
    out = std::to_string(run) + ":" + (why.size() > 100 ? std::to_string(why.size()) : why);
  }
  void read_log(thrift::LogSlice& out, const thrift::RequestHead&,
                const thrift::LogRequest& request) override {
    out.__set_bytes(std::string(static_cast<std::size_t>(request.limit_bytes), 'x'));
  }

  Gate gate;
};

/// A started server on a free port.
struct EchoServer {
  explicit EchoServer(ServerOptions options = {})
      : handler(std::make_shared<EchoHandler>()),
        server(std::make_shared<thrift::JobServiceProcessor>(handler), options) {
    started = server.start();
  }
  Endpoint endpoint() const { return {"127.0.0.1", server.port()}; }

  std::shared_ptr<EchoHandler> handler;
  Server server;
  Result<void> started;
};

using EchoChannel = Channel<thrift::JobServiceClient>;

inline CallResult<std::string> echo(EchoChannel& channel, const std::string& text,
                                    Millis timeout = testing::kPatience) {
  return channel.call(
      [&](thrift::JobServiceClient& client) {
        std::string out;
        client.cancel_run(out, {}, 7, text);
        return out;
      },
      timeout);
}

/// A plain TCP connection for bytes that no client would send.
inline UniqueFd raw_connection(const Endpoint& to) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(to.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fd.reset();
  }
  return fd;
}

inline void send_raw(const UniqueFd& fd, const std::string& bytes) {
  (void)!::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

/// Whether the peer closes within the time.
inline bool is_closed_within(const UniqueFd& fd, Millis time) {
  timeval limit{time.count() / 1000, static_cast<suseconds_t>(time.count() % 1000 * 1000)};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  char buffer[4096];
  for (;;) {
    const auto got = ::recv(fd.get(), buffer, sizeof(buffer), 0);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK;
  }
}

}  // namespace rota::rpc::test
