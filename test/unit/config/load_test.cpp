#include "common/config/load.h"

#include <doctest/doctest.h>

#include "test/unit/config/temporary_folder.h"

using namespace rota;
using namespace rota::config;

namespace {

/// All problems of a master's file, as lines without the folder's name.
std::string master_problems(const std::string& yaml, const Environment& environment = {}) {
  TemporaryFolder folder;
  const std::string path = folder.file("m.yaml", yaml);
  const auto loaded = load_master(path, environment);
  if (loaded) return "";
  std::string text = loaded.error().text();
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path)) {
    text.replace(at, path.size(), "m.yaml");
  }
  return text;
}

std::string worker_problems(const std::string& yaml) {
  TemporaryFolder folder;
  const auto loaded = load_worker(folder.file("w.yaml", yaml), {});
  return loaded ? "" : loaded.error().text();
}

MasterOptions master(const std::string& yaml, const Environment& environment = {}) {
  TemporaryFolder folder;
  auto loaded = load_master(folder.file("m.yaml", yaml), environment);
  if (!loaded) FAIL(loaded.error().text());
  return *loaded;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t lines_in(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

}  // namespace

TEST_CASE("options: a file sets what it names and leaves the rest") {
  const auto o = master(
      "id: m1\n"
      "zookeeper:\n"
      "  connect: 127.0.0.1:1,127.0.0.1:2\n"
      "  session_timeout_ms: 3000\n"
      "log: {level: debug, channels: {zk: warn}}\n");
  CHECK(o.id == "m1");
  CHECK(o.zookeeper.connect == "127.0.0.1:1,127.0.0.1:2");
  CHECK(o.zookeeper.session_timeout == Millis{3000});
  CHECK(o.zookeeper.margin() == Millis{1300});
  CHECK(o.log.level == Severity::Debug);
  CHECK(o.log.channels.at("zk") == Severity::Warn);
  CHECK(o.inbox_events == 10'000);
  CHECK(o.heartbeat_file == "/var/lib/rota/master/heartbeat");
  CHECK(o.advertise.host == "127.0.0.1");
}

TEST_CASE("options: every problem is reported in one run, with its place") {
  const std::string text = master_problems(
      "id: m1\n"
      "listen:\n"
      "  port: 70000\n"
      "zookeper:\n"
      "  connect: x:1\n"
      "inbox_events: 010\n"
      "log:\n"
      "  json: yes\n"
      "  json: true\n"
      "  level: loud\n"
      "---\n"
      "id: m2\n");
  INFO(text);
  CHECK(holds(text, "m.yaml:3:9 listen.port: 70000 is out of range; allowed: 0 to 65535\n"));
  CHECK(holds(text, "m.yaml:4:1 zookeper: unknown key (did you mean zookeeper?)"));
  CHECK(holds(text, "m.yaml:6:15 inbox_events: '010' is no whole number"));
  CHECK(holds(text, "m.yaml:8:9 log.json: 'yes' is not known here; allowed: true or false"));
  CHECK(holds(text, "m.yaml:9:3 log.json: this key appears twice (first in line 8)"));
  CHECK(holds(text, "m.yaml:10:10 log.level: 'loud' is not known here; allowed: debug, info"));
  CHECK(holds(text, "m.yaml:11:1: a second document begins here"));
  CHECK(lines_in(text) == 7);
}

TEST_CASE("options: wrong types are reported") {
  CHECK(holds(master_problems("inbox_events: \"500\"\n"), "is no whole number"));
  CHECK(holds(master_problems("inbox_events: 5e3\n"), "is no whole number"));
  CHECK(holds(master_problems("inbox_events: [500]\n"), "is not a whole number"));
  CHECK(holds(master_problems("inbox_events:\n"), "has no value"));
  CHECK(holds(master_problems("listen: 127.0.0.1\n"), "is a section; write its keys below it"));
  CHECK(holds(master_problems("id: {a: b}\n"), "is not a text"));
  CHECK(holds(master_problems("log: {console: \"true\"}\n"), "allowed: true or false"));
  CHECK(holds(master_problems("plaintext_networks: 10.0.0.0/8\n"), "is no list of texts"));
  CHECK(holds(master_problems("- a\n"), "a map (key: value) is expected"));
  CHECK(holds(master_problems("state_dir: relative\n"), "write a path that begins with /"));
  CHECK(holds(master_problems("zookeeper: {connect: \"a:1, b:2\"}\n"), "is no list of servers"));
}

TEST_CASE("options: a key in the wrong section is reported with its right section") {
  CHECK(holds(master_problems("session_timeout_ms: 4000\n"),
              "did you mean zookeeper.session_timeout_ms?"));
}

TEST_CASE("options: a missing file is a problem") {
  const auto loaded = load_master("/nowhere/master.yaml", {});
  REQUIRE_FALSE(loaded);
  CHECK(holds(loaded.error().text(), "/nowhere/master.yaml: cannot open"));
}

TEST_CASE("options: the environment overrides the file") {
  const auto o =
      master("id: m1\ninbox_events: 500\n", {{"ROTA_ZOOKEEPER_CONNECT", "127.0.0.1:7"},
                                             {"ROTA_ID", "m2"},
                                             {"ROTA_PLAINTEXT_NETWORKS", "10.0.0.0/8,fd00::/8"},
                                             {"ROTA_LOG_CHANNELS", "zk=debug,loop=error"},
                                             {"ROTA_MASTERS", "meant for the client"}});
  CHECK(o.id == "m2");
  CHECK(o.inbox_events == 500);
  CHECK(o.zookeeper.connect == "127.0.0.1:7");
  CHECK(o.plaintext_networks == std::vector<std::string>{"10.0.0.0/8", "fd00::/8"});
  CHECK(o.log.channels.size() == 2);
}

TEST_CASE("options: a wrong variable is reported by its name") {
  CHECK(holds(master_problems("", {{"ROTA_LISTEN_PORT", "http"}}),
              "environment ROTA_LISTEN_PORT listen.port: 'http' is no whole number"));
  CHECK(holds(master_problems("", {{"ROTA_ZOOKEEPER_CONECT", "x:1"}}),
              "environment ROTA_ZOOKEEPER_CONECT: unknown variable (did you mean "
              "ROTA_ZOOKEEPER_CONNECT?)"));
}

TEST_CASE("options: a bind beyond loopback needs its network named") {
  CHECK(holds(master_problems("listen: {host: 10.1.2.3}\n"), "10.1.2.3 is beyond loopback"));
  CHECK(holds(master_problems("listen: {host: 10.1.2.3}\nplaintext_networks: [10.2.0.0/16]\n"),
              "beyond loopback"));
  CHECK(master_problems("listen: {host: 10.1.2.3}\nplaintext_networks: [10.0.0.0/8]\n").empty());
  CHECK(holds(master_problems("listen: {host: 10.1.2.3}\nplaintext_networks: [\"::/0\"]\n"),
              "beyond loopback"));
  CHECK(master_problems("listen: {host: 127.1.2.3}\n").empty());
  CHECK(master_problems("listen: {host: \"::1\"}\n").empty());
  CHECK(holds(master_problems("listen: {host: \"::ffff:10.0.0.1\"}\n"), "beyond loopback"));
  const std::string any =
      master_problems("listen: {host: 0.0.0.0}\nplaintext_networks: [10.0.0.0/8]\n");
  CHECK(holds(any, "beyond loopback"));
  CHECK(holds(any, "advertise.host: is empty"));
  CHECK(master_problems("listen: {host: 0.0.0.0}\nadvertise: {host: a.example}\n"
                        "plaintext_networks: [0.0.0.0/0]\n")
            .empty());
  CHECK(holds(master_problems("listen: {host: a.example}\n"), "is no address of this host"));
  CHECK(holds(master_problems("plaintext_networks: [10.0.0.0/33]\n"), "is no network"));
}

TEST_CASE("options: pages beyond loopback need their network named, when there are any") {
  const std::string beyond = "http: {host: 10.1.2.3, port: 9100}\n";
  CHECK(holds(master_problems(beyond), "http.host: is 10.1.2.3, beyond loopback"));
  CHECK(holds(master_problems(beyond + "plaintext_networks: [10.2.0.0/16]\n"), "beyond loopback"));
  CHECK(master_problems(beyond + "plaintext_networks: [10.0.0.0/8]\n").empty());
  CHECK(master_problems("http: {host: 10.1.2.3}\n").empty());
  CHECK(master_problems("http: {host: 127.1.2.3, port: 9100}\n").empty());
  CHECK(holds(master_problems("http: {host: a.example, port: 9100}\n"), "is no address of this host"));
}

TEST_CASE("options: settings that contradict each other are reported") {
  CHECK(holds(master_problems("zookeeper: {session_timeout_ms: 4000, server_tick_ms: 2500}\n"),
              "m.yaml:1:33 zookeeper.session_timeout_ms: 4000 is not between 2 and 20 ticks"));
  CHECK(holds(master_problems("hang_limit_ms: 10000\n"), "hang_limit_ms: 10000 is not above"));
  CHECK(holds(master_problems("store_give_up_ms: 1000\n"), "store_give_up_ms: 1000 is below 5000"));
  CHECK(holds(worker_problems("zookeeper: {session_timeout_ms: 2000, server_tick_ms: 1000}\n"),
              "leaves a lease of 367 ms (session minus a margin of 1633 ms), less than two beats"));
}

TEST_CASE("options: a secret is read only from a file of the same user") {
  TemporaryFolder folder;
  const std::string good = folder.file("good", "s3cret\n", 0600);
  const std::string open = folder.file("open", "s3cret\n", 0644);
  CHECK(read_secret(good).value() == "s3cret");
  CHECK(read_secret(open).error().code == ErrorCode::Denied);
  CHECK(read_secret(open).error().message.find("chmod 600") != std::string::npos);
  CHECK_FALSE(read_secret(folder.file("group", "s3cret\n", 0640)));
  CHECK_FALSE(read_secret("/nowhere"));
  CHECK(
      holds(master_problems("database: {password_file: " + open + "}\n"), "can be read by others"));
  CHECK(
      holds(master_problems("database: {password: x}\n"), "unknown key (did you mean password_fi"));
}

TEST_CASE("options: worker settings are read and filled in") {
  TemporaryFolder folder;
  const auto o = load_worker(folder.file("w.yaml",
                                         "id: w1\nslots: 8\nlabels: {disk: ssd, rack: 7}\n"
                                         "state_dir: /tmp/w1\nwarden_binary: /usr/bin/warden\n"
                                         "job_environment: [PATH]\n"),
                             {});
  if (!o) FAIL(o.error().text());
  CHECK(o->slots == 8);
  CHECK(o->labels.at("rack") == "7");
  CHECK(o->work_dir == "/tmp/w1/work");
  CHECK(o->warden_binary == "/usr/bin/warden");
  CHECK(o->job_environment == std::vector<std::string>{"PATH"});
  CHECK(load_worker("", {}).value().warden_binary.ends_with("/rota-warden"));
  CHECK(holds(worker_problems("slots: 0\n"), "allowed: 1 to 10000"));
  CHECK(worker_problems("output: {log_chunk_bytes: 65536}\n").empty());
  CHECK(holds(worker_problems("output: {log_chunk_bytes: 65537}\n"), "allowed: 1024 to 65536"));  // masters take no more
  CHECK(holds(worker_problems("id: \"a@b\"\n"), "'a@b' is no name"));
}

TEST_CASE("options: SIGHUP names settings that need a restart, but not the log's") {
  const auto now = master("id: m1\n");
  const auto wanted = master("id: m1\nlog: {level: debug}\nrpc_deadline_ms: 500\n");
  CHECK(needs_restart(now, wanted) == std::vector<std::string>{"rpc_deadline_ms"});
}

TEST_CASE("options: the elector's settings are checked together") {
  CHECK(master("id: m1\n").elector == "zookeeper");
  CHECK(holds(master_problems("elector: consul\n"), "is no elector; write zookeeper, mysql or etcd"));
  CHECK(holds(master_problems("elector: etcd\n"), "etcd.endpoints"));
  CHECK(holds(master_problems("elector: etcd\netcd:\n  endpoints: [10.0.0.5:2379]\n"), "is no endpoint"));
  CHECK(holds(master_problems("mysql_elector: {lease_ms: 1900, beat_ms: 500}\n"),
              "1900 is less than four beats of 500 ms"));
  CHECK(holds(master_problems("etcd: {lease_s: 2, beat_ms: 600}\n"), "2 is less than four beats of 600 ms"));
  const auto etcd = master("elector: etcd\netcd:\n  endpoints: ['http://127.0.0.1:1', 'https://e2:2379']\n  lease_s: 3\n");
  CHECK(etcd.etcd.endpoints.size() == 2);
  CHECK(etcd.etcd.lease_s == 3);
}

TEST_CASE("options: several servers of the database are named in order, with or without a port") {
  const auto several = master("database: {hosts: [db1, 'db2:3307'], port: 3310}\n");
  CHECK(several.database.hosts == std::vector<std::string>{"db1", "db2:3307"});
  CHECK(holds(master_problems("database: {hosts: ['db1:x']}\n"), "is no server"));
  CHECK(holds(master_problems("database: {hosts: ['db1,db2']}\n"), "is no server"));
  CHECK(holds(master_problems("database: {hosts: [db1], socket: /run/db.sock}\n"), "beside database.socket"));
}

TEST_CASE("options: receivers of notifications are read, and each mistake is told") {
  const auto o = master(
      "receivers:\n"
      "  - {name: ops, url: \"http://10.0.0.9/alarm\", events: [failed, lost], timeout: 5s}\n"
      "  - {name: mail, command: [/usr/local/bin/tell, night]}\n"
      "notify: {default: [ops], no_leader_after_ms: 5000}\n");
  REQUIRE(o.receivers.size() == 2);
  CHECK(o.receivers[0].url == "http://10.0.0.9/alarm");
  CHECK(o.receivers[0].events == std::vector<std::string>{"failed", "lost"});
  CHECK(o.receivers[0].timeout == Millis{5000});
  CHECK(o.receivers[1].command.size() == 2);
  CHECK(o.receivers[1].timeout == Millis{10'000});
  CHECK(o.notify.to == std::vector<std::string>{"ops"});
  CHECK(o.notify.no_leader_after == Millis{5000});
  CHECK(holds(master_problems("receivers: {ops: x}\n"), "is no list of at most 16 receivers"));
  CHECK(holds(master_problems("receivers: [{name: ops}]\n"), "has no url and no command; give one of them"));
  CHECK(holds(master_problems("receivers: [{name: ops, url: \"http://a\", command: [b]}]\n"), "has both url and command"));
  CHECK(holds(master_problems("receivers: [{name: ops, url: \"ftp://a\"}]\n"), "is no address"));
  CHECK(holds(master_problems("receivers: [{name: ops, url: \"http://a\", events: [fails]}]\n"),
              "\"fails\" is no event; allowed: failed, lost"));
  CHECK(holds(master_problems("receivers: [{name: a, url: \"http://a\"}, {name: a, url: \"http://b\"}]\n"),
              "'a' is there twice"));
  CHECK(holds(master_problems("receivers: [{name: nobody, url: \"http://a\"}]\n"), "means that none is told"));
  CHECK(holds(master_problems("receivers: [{name: a, url: \"http://a\", headers: {}}]\n"), "receivers[0].headers"));
  CHECK(holds(master_problems("notify: {default: [ops]}\n"), "'ops' is no receiver; name it under receivers"));
}

TEST_CASE("options: hooks of pools are read, and each mistake is told") {
  const auto o = master(
      "hooks:\n"
      "  - {name: k8s, url: \"http://10.0.0.9/scale\", timeout: 5s}\n"
      "  - {name: local, command: [/usr/local/bin/scale, --dir, /x]}\n");
  REQUIRE(o.hooks.size() == 2);
  CHECK(o.hooks[0].url == "http://10.0.0.9/scale");
  CHECK(o.hooks[0].timeout == Millis{5000});
  CHECK(o.hooks[1].command.size() == 3);
  const struct {
    const char* yaml;
    const char* told;
  } rows[] = {
      {"hooks: {k8s: x}\n", "is no list of at most 16 hooks; write it like [{name: k8s, url: \"http://10.0.0.9/scale\"}]"},
      {"hooks: [{url: \"http://a\"}]\n", "a hook's name"},
      {"hooks: [{name: k8s}]\n", "has no url and no command; give one of them"},
      {"hooks: [{name: k8s, url: \"http://a\", command: [b]}]\n", "has both url and command"},
      {"hooks: [{name: k8s, url: \"k8s:443\"}]\n", "is no address"},
      {"hooks: [{name: k8s, command: []}]\n", "names no program"},
      {"hooks: [{name: none, command: [b]}]\n", "means that a pool has no hook"},
      {"hooks: [{name: a, command: [b]}, {name: a, command: [c]}]\n", "'a' is there twice"},
      {"hooks: [{name: a, command: [b], timeout: 1ms}]\n", "hooks[0].timeout"},
      {"hooks: [{name: a, command: [b], events: [failed]}]\n", "hooks[0].events"}};
  for (const auto& row : rows) {
    CAPTURE(row.yaml);
    CHECK(holds(master_problems(row.yaml), row.told));
  }
}
