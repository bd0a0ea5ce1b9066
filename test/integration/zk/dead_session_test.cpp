// Ending the session of a process that was killed.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/random.h"
#include "common/base/unique_fd.h"
#include "test/integration/zk/servers.h"
#include "test/support/stall_meter.h"
#include "test/support/zk/event_log.h"

using namespace rota;
using namespace rota::zk;

namespace {

/// A separate process that holds a session; the destructor kills and reaps it at the latest.
struct Holder {
  pid_t pid = -1;

  Holder(const std::string& addresses, const std::string& file, const std::string& node) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
    std::string words[] = {ROTA_SESSION_HOLDER, addresses, file, node};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    const int spawned = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE(spawned == 0);
    writer.reset();
    char ready[6];
    REQUIRE(::read(reader.get(), ready, sizeof ready) == 6);
  }
  ~Holder() { end(); }
  void end() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = -1;
  }
};

struct Fixture {
  testing::ZookeeperServer& server = shared_server();
  std::string folder =
      (std::filesystem::temp_directory_path() / ("rota-" + random_hex(6))).string();
  std::string file = folder + "/session.json";
  EventLog log;
  std::unique_ptr<Client> client;

  Fixture() {
    REQUIRE(make_folders(folder).has_value());
    ClientOptions options;
    options.addresses = server.address();
    options.session_timeout = options.operation_deadline = Millis{20'000};
    client = std::move(*make_real_client(options, log.handler()));
    REQUIRE(log.hears(Event::What::Connected));
  }
  ~Fixture() { std::filesystem::remove_all(folder); }
};

}  // namespace

TEST_CASE("dead session: its node vanishes within 50 ms of the kill, not after the session timeout") {
  Fixture f;
  const testing::StallMeter stalls;
  std::vector<Micros> took;
  for (int i = 0; i < 10; ++i) {
    const std::string node = "/dead-" + random_hex(4);
    Holder holder(f.server.address(), f.file, node);
    REQUIRE(f.client->sync("/").has_value());
    REQUIRE(f.client->exists(node, Watch::Yes)->has_value());

    const auto living =
        end_dead_session(f.file, DeathProof::Identity, make_real_client, kPatience);
    REQUIRE_FALSE(living.has_value());
    CHECK(living.error().code == ErrorCode::Conflict);

    const MonoTime killed = BootClock::now();
    holder.end();
    CHECK(*end_dead_session(f.file, DeathProof::Identity, make_real_client, kPatience) == 1);
    REQUIRE(f.log.hears_watch(node, Event::Change::Deleted));
    took.push_back(stalls.fair_since(killed));
    CHECK_FALSE(std::filesystem::exists(f.file));
  }
  std::sort(took.begin(), took.end());
  MESSAGE("kill -9 to node gone: median " << took[5].count() << " us, worst "
                                          << took.back().count() << " us");
  // The best time shows the normal case; a busy machine delays the others, but still far less than the thirty
  // seconds that the session would have lasted.
  CHECK(took.front() < Millis{50});
  CHECK(took[5] < Millis{1000});
}

TEST_CASE("dead session: an expired session in the file is not an error") {
  Fixture f;
  {
    Holder holder(f.server.address(), f.file, "/gone-" + random_hex(4));
    auto records = *read_session_file(f.file);
    REQUIRE(records.size() == 1);
    REQUIRE(end_session(records[0], make_real_client, kPatience).has_value());
    // The holder is alive, starts a new session and records it: only its death ends that one.
  }
  CHECK(end_dead_session(f.file, DeathProof::Identity, make_real_client, kPatience).has_value());
  CHECK_FALSE(std::filesystem::exists(f.file));
}
