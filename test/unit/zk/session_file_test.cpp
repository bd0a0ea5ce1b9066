#include "common/zk/session_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/base/random.h"
#include "common/zk/session_json.h"
#include "test/support/small_disk.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;

namespace {

constexpr Millis kLong = testing::kPatience;

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / ("rota-" + random_hex(6))).string();
  Folder() { REQUIRE(make_folders(path).has_value()); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return path + "/session.json"; }
};

/// The pid of a process that is dead and reaped.
pid_t dead_pid() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  REQUIRE(pid > 0);
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
  return pid;
}

/// A session with an ephemeral node, left by a process with this pid.
struct LeftSession {
  EventLog log;
  std::unique_ptr<Client> client;
  SessionRecord record;

  LeftSession(FakeServer& server, pid_t pid) {
    client = std::move(*server.factory()(ClientOptions{}, log.handler()));
    REQUIRE(client->create("/e" + random_hex(4), "", CreateMode::Ephemeral).has_value());
    record = *record_of_this_process();
    record.pid = pid;
    record.addresses = "fake";
    record.credentials = client->credentials();
  }
};

void write(const std::string& path, const std::vector<SessionRecord>& records) {
  REQUIRE(write_file_synced(path, session_records_to_json(records), 0600).has_value());
}

}  // namespace

TEST_CASE("session file: exists before the first node, is private, is removed at a clean close") {
  Folder folder;
  FakeServer server;
  SessionOptions options = quick_session();
  options.session_file = folder.file();
  options.cluster_uuid = "u1";

  struct Looker final : SessionObserver {
    explicit Looker(std::string p) : path(std::move(p)) {}
    std::string path;
    Watched<std::vector<SessionRecord>> seen;
    void session_began(Client&) override {
      seen.change([&](auto& records) { records = *read_session_file(path); });
    }
    void session_ended() override {}
  } looker(folder.file());

  Session session(server.factory(), options);
  session.attach(looker);
  session.start();
  REQUIRE(looker.seen.becomes([](const auto& records) { return !records.empty(); }));
  const SessionRecord record = looker.seen.get().front();
  CHECK(record.credentials.id == session.client()->session_id());
  CHECK(record.pid == ::getpid());
  CHECK(record.cluster_uuid == "u1");
  CHECK_FALSE(is_proven_dead(record));
  struct stat status {};
  REQUIRE(::stat(folder.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  SUBCASE("clean close") {
    CHECK(session.stop());
    CHECK_FALSE(std::filesystem::exists(folder.file()));
  }
  SUBCASE("closed while cut off: the file stays for the next life") {
    server.set_reachable(false);
    CHECK_FALSE(session.stop());
    CHECK(std::filesystem::exists(folder.file()));
  }
  session.detach(looker);
}

TEST_CASE("session file: a new session of the same process replaces the old one") {
  Folder folder;
  SessionFile file(folder.file());
  REQUIRE(file.write_present({1, std::string(16, 'a')}, "h:1", "u").has_value());
  REQUIRE(file.write_present({2, std::string(16, '\xff')}, "h:1", "u").has_value());
  const auto records = *read_session_file(folder.file());
  REQUIRE(records.size() == 1);
  CHECK(records[0].credentials.id == 2);
  CHECK(records[0].credentials.password == std::string(16, '\xff'));
}

TEST_CASE("session file: only the sessions of dead processes are ended") {
  Folder folder;
  FakeServer server;
  const pid_t other = ::getppid() != 0 ? ::getppid() : ::getpid();  // 0: the parent process is not visible from here
  LeftSession living(server, other);
  living.record.start_ticks = process_start_ticks(other).value();
  LeftSession dead(server, dead_pid());

  write(folder.file(), {living.record, dead.record});
  const auto ended = end_dead_session(folder.file(), DeathProof::Identity, server.factory(), kLong);
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error().code == ErrorCode::Conflict);
  CHECK(server.sessions() == std::vector<SessionId>{living.client->session_id()});
  REQUIRE(read_session_file(folder.file())->size() == 1);

  CHECK(*end_dead_session(folder.file(), DeathProof::Caller, server.factory(), kLong) == 1);
  CHECK(server.sessions().empty());
  CHECK_FALSE(std::filesystem::exists(folder.file()));
  CHECK(*end_dead_session(folder.file(), DeathProof::Identity, server.factory(), kLong) == 0);
}

TEST_CASE("session file: which processes count as dead") {
  SessionRecord record = *record_of_this_process();
  CHECK_FALSE(is_proven_dead(record));
  SUBCASE("the pid was given to another process") {
    record.start_ticks += 1;
    CHECK(is_proven_dead(record));
  }
  SUBCASE("the host was booted since") {
    record.boot_id = "another";
    CHECK(is_proven_dead(record));
  }
  SUBCASE("a pid of another namespace proves nothing") {
    record.pid = dead_pid();
    record.pid_namespace = "pid:[1]";
    CHECK_FALSE(is_proven_dead(record));
  }
}

TEST_CASE("session file: without ZooKeeper the session stays in the file") {
  Folder folder;
  FakeServer server;
  LeftSession dead(server, dead_pid());
  write(folder.file(), {dead.record});
  server.set_reachable(false);
  const auto ended = end_dead_session(folder.file(), DeathProof::Identity, server.factory(), kLong);
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error().code == ErrorCode::Unavailable);
  CHECK(read_session_file(folder.file())->size() == 1);
}

TEST_CASE("session file: a new life registers first, and ends its earlier ones afterwards") {
  Folder folder;
  FakeServer server;
  LeftSession before_last(server, dead_pid());
  LeftSession last(server, dead_pid());
  write(folder.file(), {last.record, before_last.record});

  SessionOptions options = quick_session();
  options.session_file = folder.file();
  Session session(server.factory(), options);
  session.start();
  REQUIRE(session.wait_connected(kLong).has_value());
  CHECK(read_session_file(folder.file())->size() == 3);
  CHECK(*session.end_earlier_sessions(DeathProof::Identity) == 2);
  CHECK(server.sessions() == std::vector<SessionId>{session.client()->session_id()});
  CHECK(read_session_file(folder.file())->size() == 1);
}

TEST_CASE("session file: on a full disk each life is recorded, and dead ones are removed") {
  Folder folder;
  testing::on_small_disk(folder.path, testing::DiskKind::Ext4, 8, [&] {
    FakeServer server;
    LeftSession dead(server, dead_pid());
    write(folder.file(), {dead.record});  // as a version of before writes it
    SessionFile file(folder.file());
    testing::fill_disk(folder.path);
    for (SessionId id = 1; id <= 3; ++id) {
      REQUIRE(file.write_present({id, std::string(16, 'a')}, "h:1", "u").has_value());
      const auto records = *read_session_file(folder.file());
      REQUIRE(records.size() == 2);
      CHECK(records[0].credentials.id == id);
    }
    CHECK(*file.end_earlier(DeathProof::Identity, server.factory(), kLong) == 1);
    CHECK(read_session_file(folder.file())->size() == 1);
    file.forget_present();
    CHECK_FALSE(std::filesystem::exists(folder.file()));
    REQUIRE(file.write_present({4, std::string(16, 'b')}, "h:1", "u").has_value());
    REQUIRE(file.write_present({5, std::string(16, 'b')}, "h:1", "u").has_value());
    CHECK(read_session_file(folder.file())->front().credentials.id == 5);
  });
}

TEST_CASE("session file: broken content is reported, without guessing a session") {
  for (const char* text : {"", "{}", "[]", "{\"sessions\":[{}]}", "{\"sessions\":[1]}"}) {
    CAPTURE(text);
    const auto records = session_records_from_json(text);
    REQUIRE_FALSE(records.has_value());
    CHECK(records.error().code == ErrorCode::Corrupt);
  }
}
