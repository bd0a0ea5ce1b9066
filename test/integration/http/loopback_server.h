// An HTTP server on the loopback that a test controls: it answers each connection with the bytes that the
// test gives for the path, and remembers the requests.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/unique_fd.h"

namespace rota::testing {

/// Owner: the test. Thread: any. One thread of its own serves one connection after the other.
class LoopbackServer {
 public:
  struct Request {
    std::string head;                  ///< lines with their ends, without the empty one
    std::string body;
    std::string path() const;
  };
  /// The bytes of the answer to a request; empty: no answer until the server ends or the caller closes the
  /// connection.
  using Answer = std::function<std::string(const Request&)>;

  explicit LoopbackServer(Answer answer);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url(const std::string& path) const;
  std::vector<Request> requests() const;
  /// Connections that the caller closed before an answer.
  int hung_up() const;

 private:
  void serve(std::stop_token stop);
  void attend(int connection, std::stop_token stop);

  const Answer answer_;
  UniqueFd listening_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  int hung_up_ = 0;
  std::jthread thread_;
};

/// An answer with its length: "HTTP/1.1 STATUS", the lines of the head, and the body.
std::string http_answer(int status, const std::string& body, const std::string& head_lines = {});

}  // namespace rota::testing
