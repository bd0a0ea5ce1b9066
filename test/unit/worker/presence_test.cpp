#include "worker/presence/presence.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/zk/cluster_nodes.h"
#include "common/zk/session_file.h"
#include "common/zk/session_json.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"
#include "test/unit/worker/fake_runner.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::presence {

namespace {

/// As an earlier life leaves it: its process is dead and reaped, its session lasts.
void leave_session_file(const std::string& path, const zk::Client& client) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
  zk::SessionRecord record = zk::record_of_this_process().value();
  record.pid = pid;
  record.addresses = "fake";
  record.credentials = client.credentials();
  REQUIRE(write_file_synced(path, zk::session_records_to_json({record}), 0600));
}

/// A worker's presence on a fake ZooKeeper, with a desk whose runner runs nothing.
struct PresenceRig {
  testing::TemporaryFolder folder;
  zk::FakeServer server;
  zk::Paths paths{"c"};
  desk::FakeRunner runner;
  desk::FakeSink sink;
  SystemClock clock;
  desk::EpochKeeper epochs{folder.path() + "/epochs"};
  desk::LeaderAddress leader;
  desk::AttemptDesk desk{{}, {runner, sink, epochs, leader, clock}};
  zk::Watched<std::vector<std::string>> at_attach;  ///< who was registered when a session was first ended
  std::atomic<bool> rival = false;

  std::string session_file() const { return folder.path() + "/session"; }
  std::unique_ptr<Presence> start() {
    PresenceOptions options;
    options.cluster = "c";
    options.home = "home";
    options.session = zk::quick_session();
    options.session.session_file = session_file();
    options.rival_patience = Millis{100};
    const auto make = [this](const zk::ClientOptions& wanted, zk::EventHandler handler) {
      if (wanted.attach) {
        at_attach.change([this](auto& names) {
          if (names.empty()) names = server.children(paths.workers());
        });
      }
      return server.factory()(wanted, std::move(handler));
    };
    model::WorkerInfo info;
    info.key.id = "w1";
    auto presence = std::make_unique<Presence>(
        std::move(options), PresenceParts{make, desk, [this](const auto&) { rival = true; }}, info);
    presence->start();
    return presence;
  }
  /// A session with a node of this worker's id.
  std::unique_ptr<zk::Client> another(const std::string& incarnation) {
    auto client = server.factory()(zk::ClientOptions{}, [](const zk::Event&) {}).value();
    REQUIRE(zk::ensure_cluster(*client, paths));
    REQUIRE(client->create(paths.workers() + "/w1@" + incarnation, "{}", zk::CreateMode::Ephemeral));
    return client;
  }
};

}  // namespace

TEST_CASE("presence: a new life registers first, then ends the session of the dead one") {
  PresenceRig rig;
  const auto dead = rig.another("dead");
  leave_session_file(rig.session_file(), *dead);
  const auto presence = rig.start();
  REQUIRE(presence->wait_registered(testing::kPatience));
  CHECK(rig.at_attach.get().size() == 2);
  const auto left = rig.server.children(rig.paths.workers());
  REQUIRE(left.size() == 1);
  CHECK(left[0] == "w1@" + rig.desk.life().incarnation);
  CHECK_FALSE(rig.rival);
}

TEST_CASE("presence: while another life of its id stands it is not registered, and then leaves") {
  PresenceRig rig;
  const auto other = rig.another("living");
  const auto presence = rig.start();
  CHECK_FALSE(presence->wait_registered(Millis{300}));
  CHECK(testing::eventually([&] { return rig.rival.load(); }));
  presence->stop();
  CHECK(rig.server.children(rig.paths.workers()) == std::vector<std::string>{"w1@living"});
}

TEST_CASE("presence: a dead life of its own home, whose session nobody knows, is waited for until it expires") {
  PresenceRig rig;
  const auto dead = rig.another("home-0123456789abcdef");
  const auto presence = rig.start();
  CHECK_FALSE(presence->wait_registered(Millis{300}));
  CHECK_FALSE(rig.rival);
  dead->close();
  REQUIRE(presence->wait_registered(testing::kPatience));
  CHECK_FALSE(rig.rival);
}

TEST_CASE("presence: once registered it refuses orders below the epoch that ZooKeeper has") {
  PresenceRig rig;
  const auto master = rig.server.factory()(zk::ClientOptions{}, [](const zk::Event&) {}).value();
  REQUIRE(zk::ensure_cluster(*master, rig.paths));
  REQUIRE(zk::create_cluster_uuid(*master, rig.paths, "u-1"));
  REQUIRE(zk::write_epoch(*master, rig.paths, Epoch{7}, *zk::read_epoch(*master, rig.paths)));
  const auto presence = rig.start();
  REQUIRE(presence->wait_registered(testing::kPatience));
  CHECK(rig.desk.highest_epoch() == Epoch{7});
  CHECK(rig.desk.cancel({Epoch{6}, rig.desk.life()}, {}, {}) == model::Refusal::OldEpoch);
  CHECK(rig.desk.cancel({Epoch{7}, rig.desk.life()}, {}, {}) == model::Refusal::None);
}

}  // namespace rota::worker::presence
