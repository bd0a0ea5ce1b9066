// The electors that the contract suite runs on, and a candidate of each over a line of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/zk/session.h"
#include "master/cluster/elector.h"
#include "test/support/tcp_proxy.h"
#include "test/support/zk/test_session.h"

namespace rota::master::cluster::testing {

struct Heard {
  int elected = 0;
  int lost = 0;
  bool first = false;
};

/// A master's part in the election. Its line can fall silent, or be cut.
struct Contender final : ElectorObserver {
  zk::Watched<Heard> heard;
  std::unique_ptr<rota::testing::TcpProxy> line;
  std::unique_ptr<zk::Session> session;  ///< ZooKeeper's alone
  std::unique_ptr<Elector> elector;

  ~Contender() override {
    elector.reset();
    if (session) session->stop();
  }
  void elected() override {
    heard.change([](Heard& now) { now = {now.elected + 1, now.lost, true}; });
  }
  void lost(std::string_view) override {
    heard.change([](Heard& now) { now = {now.elected, now.lost + 1, false}; });
  }
  bool wins() {
    return heard.becomes([](const Heard& now) { return now.first; });
  }
  bool learns_loss() {
    return heard.becomes([](const Heard& now) { return now.lost > 0 && !now.first; });
  }
};

struct Backend {
  std::string name;
  /// Whether a holder that is cut off stops calling itself first before another can be. ZooKeeper's does not
  /// know when its session ends.
  bool counts_by_itself = false;
  std::function<std::unique_ptr<Contender>(const std::string& id)> join;
};

/// All that can run here, each with an empty election.
std::vector<Backend> fresh_electors();

}  // namespace rota::master::cluster::testing
