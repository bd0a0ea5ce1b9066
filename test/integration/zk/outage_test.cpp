// The server is killed, restarted, frozen: everything recovers by itself.
#include <algorithm>

#include "common/base/random.h"
#include "common/zk/membership.h"
#include "common/zk/registration.h"
#include "common/zk/write_beat.h"
#include "test/integration/zk/servers.h"

using namespace rota;
using namespace rota::zk;

namespace {

std::size_t candidates(Session& session, const Paths& paths) {
  const auto client = session.client();
  if (client == nullptr || !client->sync("/")) return 0;
  const auto names = client->list(paths.election(), Watch::No);
  return names ? names->size() : 0;
}

}  // namespace

TEST_CASE("outage: after a server is killed and comes back, everything is as before") {
  testing::ZookeeperServer server(Millis{200});
  REQUIRE(server.start().has_value());
  Contender one(server, kPaths, "m1");
  REQUIRE(one.is_elected());
  Contender two(server, kPaths, "m2");
  REQUIRE(two.sees_candidates(kPaths, 2));

  Watched<MembershipChange> seen;
  Membership membership(two.session, kPaths.workers(), [&](const MembershipChange& change) {
    seen.change([&](MembershipChange& last) { last = change; });
  });
  Registration registration(one.session, kPaths.workers(),
                            {[](SessionId id) {
                               return NodeToRegister{"w1@" + std::to_string(id), "data"};
                             },
                             [](const Registered&) {},
                             {}});
  const auto one_worker = [](const MembershipChange& last) { return last.members.size() == 1; };
  REQUIRE(seen.becomes(one_worker));

  server.kill();
  REQUIRE(eventually(one.session, [&] { return !one.session.is_connected(); }));
  CHECK(one.elector.is_first());
  CHECK(one_worker(seen.get()));
  REQUIRE(server.start().has_value());

  const auto both_are_back = [&] {
    return one.session.is_connected() && two.session.is_connected() &&
           candidates(two.session, kPaths) == 2 &&
           one.elector.is_first() != two.elector.is_first();
  };
  CHECK(eventually(two.session, both_are_back));
  CHECK(seen.becomes(one_worker));
}

TEST_CASE("outage: a new session follows one that expired during it") {
  testing::ZookeeperServer server(Millis{100});
  REQUIRE(server.start().has_value());
  Contender one(server, kPaths, "m1", Millis{2000});
  REQUIRE(one.is_elected());
  const SessionId before = one.session.client()->session_id();
  server.freeze();
  REQUIRE(eventually(one.session, [&] { return !one.session.is_connected(); }));
  // The server counts no time while frozen; this ends the session once the server runs again.
  SessionRecord record;
  record.addresses = server.address();
  record.credentials = one.session.client()->credentials();
  server.thaw();
  REQUIRE(end_session(record, make_real_client, kPatience).has_value());
  CHECK(one.is_elected(2));
  CHECK(one.session.client()->session_id() != before);
}

TEST_CASE("outage: servers killed during joining leave no ghost candidate") {
  testing::ZookeeperServer server(Millis{200});
  REQUIRE(server.start().has_value());
  Contender one(server, kPaths, "m1", Millis{6000});
  REQUIRE(one.is_elected());
  for (int round = 0; round < 5; ++round) {
    // Joins and leaves without pause, so that the kill comes at any moment between.
    const int hits = static_cast<int>(random_u64() % 40);
    for (int i = 0; i < hits; ++i) {
      one.elector.resign();
      one.elector.campaign();
    }
    server.kill();
    one.elector.resign();
    one.elector.campaign();
    REQUIRE(server.start().has_value());
    REQUIRE(eventually(one.session, [&] {
      return one.session.is_connected() && one.elector.is_first() &&
             candidates(one.session, kPaths) >= 1;
    }));
    settle(one.session);
    CHECK(candidates(one.session, kPaths) == 1);
  }
}

TEST_CASE("outage: a frozen server answers no beat, and the lease ends before the session does") {
  testing::ZookeeperServer server(Millis{100});
  REQUIRE(server.start().has_value());
  const Millis asked{4000};
  Session session(make_real_client, Contender::options(server, asked));
  struct Beats {
    int count = 0;
    MonoTime lease_end{};
    MonoTime heard{};
  };
  Watched<Beats> beats;
  WriteBeatOptions options;
  options.folder = kPaths.beats();
  options.server_tick = server.tick();
  options.name = [](SessionId id) { return "w1@" + std::to_string(id); };
  options.answered = [&](const Beat& beat) {
    beats.change([&](Beats& all) {
      all = {all.count + 1, beat.lease_end, BootClock::now()};
    });
  };
  WriteBeat write_beat(session, options);
  session.start();
  REQUIRE(beats.becomes([](const Beats& all) { return all.count >= 3; }));
  CHECK(session.client()->session_timeout() == asked);

  server.freeze();
  const MonoTime frozen = BootClock::now();
  CHECK(eventually(session, [&] { return BootClock::now() > beats.get().lease_end; }));
  const Beats last = beats.get();
  // At most the beat on its way is answered; the session cannot end before frozen + asked.
  CHECK(last.lease_end < frozen + asked);
  MESSAGE("lease ended " << ms(last.lease_end - frozen) << " ms after the freeze, session of "
                         << asked.count() << " ms");
  server.thaw();
  CHECK(beats.becomes([&](const Beats& all) { return all.count > last.count; }));
}
