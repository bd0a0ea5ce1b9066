// A TCP proxy in front of the database. It cuts or holds a connection at a chosen moment: when the client
// sends a packet with certain bytes in it, e.g. "COMMIT".
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/unique_fd.h"

namespace rota::testing {

/// Thread: any. Its own thread serves the connections; the destructor ends it.
class CuttingProxy {
 public:
  enum class Deed {
    CutBefore,  ///< the server never sees the packet; both sides are closed
    CutAfter,   ///< the server gets it and answers; the answer is lost, both sides are closed
    Hold,       ///< the packet waits until release(); both sides stay open
  };

  explicit CuttingProxy(std::uint16_t server_port);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  std::uint16_t port() const { return port_; }
  /// Does `deed` once, at the next client packet that contains `bytes`.
  void at(const std::string& bytes, Deed deed);
  /// Whether the armed deed was done (waits for it).
  bool wait_until_done();
  /// Releases held packets.
  void release();

 private:
  struct Link {
    UniqueFd client;
    UniqueFd server;
    std::string held;           ///< Hold: what the client sent
    bool lose_answer = false;   ///< CutAfter: the next answer ends the link
  };

  void serve();
  void accept_one();
  bool from_client(Link& link);
  bool from_server(Link& link);
  bool meets_deed(const std::string& packet, Deed& deed);

  const std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  UniqueFd listener_;
  UniqueFd wake_;
  std::vector<Link> links_;
  std::mutex mutex_;
  std::string armed_bytes_;
  Deed armed_deed_ = Deed::CutBefore;
  std::atomic<bool> done_{false};
  std::atomic<bool> released_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rota::testing
