// A relay on 127.0.0.1 that can fall silent like a cut network: connections stay open and nothing comes
// through. It can also end them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "common/base/unique_fd.h"

namespace rota::testing {

/// Thread: any; it has a thread of its own, which ends with it.
class TcpProxy {
 public:
  /// Relays connections to port() to 127.0.0.1:target.
  explicit TcpProxy(std::uint16_t target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::uint16_t port() const { return port_; }
  /// Silent: nothing is relayed or accepted. Not silent again: everything that waited comes through.
  void set_silent(bool silent) { silent_ = silent; }
  /// Cut: every connection ends, and new ones end at once.
  void set_cut(bool cut) { cut_ = cut; }

 private:
  void loop();
  void accept_one();
  bool relay(int from, int to);

  const std::uint16_t target_;
  std::uint16_t port_ = 0;
  UniqueFd listener_;
  std::map<int, UniqueFd> ends_;      ///< open sockets by their number
  std::map<int, int> other_end_;
  std::atomic<bool> silent_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rota::testing
