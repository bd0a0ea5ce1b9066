// Three servers. One follower is cut off from its leader while a worker is connected to it: the follower still
// answers reads, the leader lets the session expire, and the worker must have stopped trusting its lease
// before that.
#include <array>

#include "common/zk/write_beat.h"
#include "test/integration/zk/servers.h"
#include "test/support/loopback.h"
#include "test/support/tcp_proxy.h"
#include "test/support/zk/event_log.h"

using namespace rota;
using namespace rota::zk;

namespace {

constexpr Millis kTick{200};
constexpr Millis kSession{4000};

/// Three servers; traffic from one to another's quorum port goes through a proxy of that pair.
struct Ensemble {
  std::array<testing::ZookeeperServer, 3> servers{testing::ZookeeperServer(kTick),
                                                  testing::ZookeeperServer(kTick),
                                                  testing::ZookeeperServer(kTick)};
  std::array<std::array<std::unique_ptr<testing::TcpProxy>, 3>, 3> links;
  std::size_t leader = 3;
  std::size_t follower = 3;

  Ensemble() {
    std::array<std::uint16_t, 3> quorum{};
    std::array<std::uint16_t, 3> election{};
    for (auto& port : quorum) port = testing::free_port();
    for (auto& port : election) port = testing::free_port();
    for (std::size_t from = 0; from < 3; ++from) {
      std::string lines = "initLimit=20\nsyncLimit=20\n";
      for (std::size_t to = 0; to < 3; ++to) {
        auto port = quorum[to];
        if (from != to) {
          links[from][to] = std::make_unique<testing::TcpProxy>(quorum[to]);
          port = links[from][to]->port();
        }
        lines += "server." + std::to_string(to + 1) + "=127.0.0.1:" + std::to_string(port) + ":" +
                 std::to_string(election[to]) + "\n";
      }
      servers[from].join_ensemble(static_cast<int>(from) + 1, lines);
      REQUIRE(servers[from].launch().has_value());
    }
    for (auto& server : servers) REQUIRE(server.wait_until_up().has_value());
    REQUIRE(testing::eventually([this] { return is_settled(); }));
  }
  /// They may vote more than once before one leads and the others follow.
  bool is_settled() {
    leader = follower = 3;
    int followers = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string mode = servers[i].mode();
      if (mode == "leader") leader = i;
      if (mode != "follower") continue;
      follower = i;
      ++followers;
    }
    return leader < 3 && followers == 2;
  }
  void cut() { links[follower][leader]->set_silent(true); }
  void mend() { links[follower][leader]->set_silent(false); }
};

struct Beats {
  int count = 0;
  std::string node;
  MonoTime lease_end{};
};

}  // namespace

TEST_CASE("a follower cut from its leader: the lease ends before the worker's node vanishes") {
  Ensemble ensemble;
  Session worker(make_real_client,
                 Contender::options(ensemble.servers[ensemble.follower], kSession));
  Watched<Beats> beats;
  WriteBeatOptions options;
  options.folder = "/beats";
  options.server_tick = kTick;
  options.name = [](SessionId id) { return "w1@" + std::to_string(id); };
  options.answered = [&](const Beat& beat) {
    beats.change([&](Beats& all) {
      all = {all.count + 1, "/beats/w1@" + std::to_string(beat.session), beat.lease_end};
    });
  };
  WriteBeat write_beat(worker, options);
  worker.start();
  REQUIRE(beats.becomes([](const Beats& all) { return all.count >= 3; }));

  EventLog log;
  ClientOptions at_leader;
  at_leader.addresses = ensemble.servers[ensemble.leader].address();
  at_leader.session_timeout = at_leader.operation_deadline = Millis{20'000};
  const auto observer = std::move(*make_real_client(at_leader, log.handler()));
  REQUIRE(log.hears(Event::What::Connected));
  std::string node;
  REQUIRE(eventually(worker, [&] {  // the worker's session is short: on a slow machine it may already be another one
    node = beats.get().node;
    const auto stands = observer->exists(node, Watch::Yes);
    return stands && stands->has_value();
  }));

  const MonoTime cut = BootClock::now();
  ensemble.cut();
  REQUIRE(log.hears_watch(node, Event::Change::Deleted));
  const MonoTime gone = BootClock::now();
  const MonoTime lease_end = beats.get().lease_end;
  MESSAGE("lease ended " << ms(lease_end - cut) << " ms after the cut, the node went at "
                         << ms(gone - cut) << " ms");
  CHECK(beats.get().node == node);
  CHECK(lease_end < gone);

  // Reconnected, the worker finds its session expired, and begins a new one with a new lease.
  ensemble.mend();
  CHECK(beats.becomes([&](const Beats& all) { return all.node != node; }));
}
