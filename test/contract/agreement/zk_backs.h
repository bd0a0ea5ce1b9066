// The servers for ZooKeeper's scripts.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "test/contract/agreement/zk_script.h"
#include "test/sim/sim_zk_client.h"
#include "test/support/tcp_proxy.h"
#include "test/support/zk/fake_server.h"
#include "test/support/zookeeper_server.h"

namespace rota::agreement {

/// A ZooKeeper server, each way through a relay of its own. Thread: one; the server outlives it.
class RealZkBack final : public ZkBack {
 public:
  explicit RealZkBack(testing::ZookeeperServer& server);
  zk::ClientFactory factory(int way) override;
  std::string address(int way) const override;
  void cut(int way) override { relay(way).set_cut(true); }
  void mend(int way) override { relay(way).set_cut(false); }
  void pass(Millis timeout, int way) override;

 private:
  testing::TcpProxy& relay(int way) const { return *relays_[static_cast<std::size_t>(way)]; }

  std::vector<std::unique_ptr<testing::TcpProxy>> relays_;
};

/// The unit tests' fake, which cannot cut off a single client. Thread: one.
class FakeZkBack final : public ZkBack {
 public:
  zk::ClientFactory factory(int) override { return server_.factory(); }
  std::string address(int) const override { return "fake"; }
  void cut(int) override {}
  void mend(int) override {}
  void pass(Millis, int) override { server_.expire(server_.sessions().back()); }

 private:
  zk::FakeServer server_;
};

/// The simulator's servers, one for each way: a client that is cut off stays with a server that falls behind, then
/// moves to another. Thread: one.
class SimZkBack final : public ZkBack {
 public:
  SimZkBack() { zookeeper_.set_up(kZkWays + 1); }
  zk::ClientFactory factory(int way) override;
  std::string address(int) const override { return "simulated"; }
  void cut(int way) override;
  void mend(int way) override;
  void pass(Millis timeout, int way) override;

 private:
  struct Holder {
    zk::SessionId session = 0;
    zk::EventHandler handler;
  };

  Result<std::unique_ptr<zk::Client>> connect(int way, const zk::ClientOptions& options, zk::EventHandler handler);
  void tell(int way, zk::Event::What what) const;

  sim::Random dice_{1};
  sim::Marks marks_;
  sim::SimZookeeper zookeeper_;
  MonoTime now_{};
  std::map<int, Holder> holders_;
};

}  // namespace rota::agreement
