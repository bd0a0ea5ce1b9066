// Shared by these tests: a real server, and masters in its election.
#pragma once

#include <doctest/doctest.h>

#include "common/zk/real_client.h"
#include "master/cluster/zk_elector.h"
#include "test/support/patience.h"
#include "test/support/zk/test_session.h"
#include "test/support/zookeeper_server.h"

namespace rota::zk {

inline const Paths kPaths{"it"};
using testing::kPatience;

/// One server for all tests of this program that do not harm it.
inline testing::ZookeeperServer& shared_server() {
  static testing::ZookeeperServer server(Millis{200});
  static const bool up = server.start().has_value();
  REQUIRE(up);
  return server;
}

struct Office {
  int elected = 0;
  int lost = 0;
  bool first = false;
  MonoTime since{};
};

/// A master's part in the election, over a real server.
struct Contender final : master::cluster::ElectorObserver {
  Watched<Office> office;
  Session session;
  master::cluster::ZkElector elector;

  Contender(const testing::ZookeeperServer& server, const Paths& paths, const std::string& id,
            Millis session_timeout = Millis{8'000})
      : session(make_real_client, options(server, session_timeout)),
        elector(session, paths, id, *this) {
    session.start();
    elector.campaign();
  }
  static SessionOptions options(const testing::ZookeeperServer& server, Millis session_timeout) {
    SessionOptions made = quick_session(server.address());
    made.client.session_timeout = session_timeout;
    made.client.operation_deadline = Millis{20'000};
    return made;
  }
  void elected() override {
    office.change([](Office& now) {
      now = {now.elected + 1, now.lost, true, BootClock::now()};
    });
  }
  void lost(std::string_view) override {
    office.change([](Office& now) { now = {now.elected, now.lost + 1, false, BootClock::now()}; });
  }
  bool is_elected(int times = 1) {
    return office.becomes([&](const Office& now) { return now.elected >= times && now.first; });
  }
  bool sees_candidates(const Paths& paths, std::size_t number) {
    return eventually(session, [&] {
      const auto client = session.client();
      if (client == nullptr) return false;
      const auto names = client->list(paths.election(), Watch::No);
      return names && names->size() == number;
    });
  }
};

inline std::int64_t ms(Micros duration) { return floor_ms(duration).count(); }

}  // namespace rota::zk
