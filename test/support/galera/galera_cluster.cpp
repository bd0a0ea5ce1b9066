#include "test/support/galera/galera_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/random.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"
#include "test/support/program.h"

namespace rota::testing {
namespace {

using Words = std::vector<std::string>;

/// With setpriv a server dies with this thread, so that a crashed test leaves none behind.
Words as_nobody(Words words) {
  Words prefix{"setpriv", "--pdeathsig", "KILL"};
  if (::geteuid() == 0) {
    prefix.insert(prefix.end(), {"--reuid", "65534", "--regid", "65534", "--clear-groups"});
  }
  words.insert(words.begin(), prefix.begin(), prefix.end());
  return words;
}

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "no Galera cluster for the tests: %s\n", what.c_str());
  std::exit(1);
}

}  // namespace

GaleraCluster::GaleraCluster() : folder_("/tmp/rota-galera-" + random_hex(6)) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    Node& node = nodes_[i];
    node.folder = fmt::format("{}/{}", folder_, i + 1);
    for (std::uint16_t* port : {&node.port, &node.group, &node.copies, &node.missed}) *port = free_port();
  }
}

GaleraCluster::~GaleraCluster() {
  for (std::size_t i = 0; i < kNodes; ++i) kill_hard(i);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

GaleraCluster& GaleraCluster::shared() {
  static const std::unique_ptr<GaleraCluster> cluster = [] {
    for (const char* path : {"/usr/lib/galera/libgalera_smm.so", "/usr/bin/wsrep_sst_rsync", "/usr/bin/rsync"}) {
      if (::access(path, F_OK) == 0) continue;
      std::fprintf(stderr, "SKIPPED: %s is missing (scripts/install galera)\n", path);
      std::_Exit(77);
    }
    auto started = start();
    if (!started) give_up(started.error().message);
    return std::move(*started);
  }();
  return *cluster;
}

Result<std::unique_ptr<GaleraCluster>> GaleraCluster::start() {
  std::unique_ptr<GaleraCluster> made(new GaleraCluster());
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (auto installed = made->install(i); !installed) return fail(installed.error());
    if (auto up = made->start_node(i, i == 0); !up) return fail(up.error());
    if (!made->await_whole(i, i + 1)) return fail(ErrorCode::TimedOut, "a node does not join: " + made->log(i));
  }
  auto account = made->sql(
      0, "CREATE USER rota_test@'127.0.0.1'; GRANT ALL ON `rota%`.* TO rota_test@'127.0.0.1'");
  if (!account) return fail(account.error());
  return made;
}

Result<void> GaleraCluster::install(std::size_t node) const {
  const std::string& folder = nodes_[node].folder;
  if (auto made = make_folders(folder); !made) return made;
  if (::geteuid() == 0) {
    for (const std::string& path : {folder_, folder}) {
      if (::chown(path.c_str(), 65534, 65534) != 0) return fail(ErrorCode::Internal, "chown " + path);
    }
  }
  auto done = run(as_nobody({"mariadb-install-db", "--no-defaults", "--force", "--skip-name-resolve",
                             "--datadir=" + folder + "/data", "--tmpdir=" + folder,
                             "--auth-root-authentication-method=normal", "--skip-test-db"}),
                  folder + "/install.log");
  return done ? Result<void>() : fail(done.error());
}

std::string GaleraCluster::addresses() const {
  std::string all = "gcomm://";
  for (const Node& node : nodes_) all += fmt::format("{}127.0.0.1:{}", &node == &nodes_[0] ? "" : ",", node.group);
  return all;
}

Result<void> GaleraCluster::start_node(std::size_t at, bool is_first) {
  Node& node = nodes_[at];
  const std::string ip = "127.0.0.1";
  node.pid = spawn(
      as_nobody({"mariadbd", "--no-defaults", "--datadir=" + node.folder + "/data", "--tmpdir=" + node.folder,
                 "--socket=" + node.folder + "/s", "--pid-file=" + node.folder + "/pid", "--bind-address=" + ip,
                 fmt::format("--port={}", node.port), "--skip-name-resolve",
                 "--innodb-flush-log-at-trx-commit=2", "--performance-schema=OFF", "--wsrep-on=ON",
                 "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
                 "--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-name=rota",
                 fmt::format("--wsrep-node-name=node-{}", at + 1),
                 fmt::format("--wsrep-node-address={}:{}", ip, node.group), "--wsrep-sst-method=rsync",
                 fmt::format("--wsrep-sst-receive-address={}:{}", ip, node.copies),
                 fmt::format("--wsrep-provider-options=base_port={};ist.recv_addr={}:{};"
                             "gmcast.listen_addr=tcp://{}:{};gcache.size=32M",
                             node.group, ip, node.missed, ip, node.group),
                 "--wsrep-cluster-address=" + (is_first ? std::string("gcomm://") : addresses())}),
      node.folder + "/server.log");
  return node.pid > 0 ? Result<void>() : fail(ErrorCode::Internal, "cannot start mariadbd");
}

Result<void> GaleraCluster::come_back(std::size_t at, bool emptied) {
  Node& node = nodes_[at];
  kill_hard(at);
  std::error_code ignored;
  std::filesystem::remove(node.folder + "/s", ignored);
  if (emptied) {
    std::filesystem::remove_all(node.folder + "/data", ignored);
    if (auto installed = install(at); !installed) return installed;
  }
  if (auto up = start_node(at, false); !up) return up;
  const auto alive = std::ranges::count_if(nodes_, [](const Node& one) { return one.pid > 0; });
  if (await_whole(at, static_cast<std::size_t>(alive))) return {};
  return fail(ErrorCode::TimedOut, "a node does not come back: " + log(at));
}

std::string GaleraCluster::fresh_database() {
  const std::string name = fmt::format("rota_{}", ++databases_);
  auto made = sql(0, "CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
  if (!made) give_up(made.error().message);
  for (std::size_t i = 1; i < kNodes; ++i) {
    if (!eventually([&] { return sql(i, "SELECT 1", name).has_value(); })) give_up("a database on one node only");
  }
  return name;
}

master::store::MysqlOptions GaleraCluster::options(std::size_t node, const std::string& database) const {
  master::store::MysqlOptions options;
  options.port = nodes_[node].port;
  options.user = "rota_test";
  options.database = database;
  options.connect_timeout = options.write_timeout = Millis{30'000};
  options.lock_wait = Millis{50'000};
  options.read_timeout = options.idle_transaction = Millis{60'000};
  return options;
}

Result<std::string> GaleraCluster::sql(std::size_t node, const std::string& text,
                                       const std::string& database) const {
  Words words{"timeout", "20", "mariadb", "--no-defaults", "--user=root", "--socket=" + nodes_[node].folder + "/s",
              "--batch", "--skip-column-names", "--execute", text};
  if (!database.empty()) words.push_back(database);
  return run(std::move(words), nodes_[node].folder + "/client.out");
}

std::string GaleraCluster::status(std::size_t node, const std::string& name) const {
  auto row = sql(node, "SHOW GLOBAL STATUS LIKE '" + name + "'");
  if (!row || row->find('\t') == std::string::npos) return "";
  std::string value = row->substr(row->find('\t') + 1);
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

bool GaleraCluster::await_whole(std::size_t node, std::size_t nodes) const {
  return eventually([&] {
    if (::access((nodes_[node].folder + "/s").c_str(), F_OK) != 0) return false;
    return status(node, "wsrep_local_state_comment") == "Synced" &&
           status(node, "wsrep_cluster_size") == std::to_string(nodes) &&
           status(node, "wsrep_cluster_status") == "Primary";
  });
}

std::string GaleraCluster::log(std::size_t node) const {
  auto text = read_file(nodes_[node].folder + "/server.log", 64u << 20);
  if (!text) return text.error().message;
  return text->size() > 3000 ? text->substr(text->size() - 3000) : *text;
}

void GaleraCluster::kill_hard(std::size_t node) {
  pid_t& pid = nodes_[node].pid;
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = -1;
}

void GaleraCluster::freeze(std::size_t node) {
  if (nodes_[node].pid > 0 && ::kill(nodes_[node].pid, SIGSTOP) == 0) {
    ::waitpid(nodes_[node].pid, nullptr, WUNTRACED);
  }
}

void GaleraCluster::thaw(std::size_t node) {
  if (nodes_[node].pid > 0) ::kill(nodes_[node].pid, SIGCONT);
}

Result<void> GaleraCluster::isolate(std::size_t node, bool is_cut) const {
  auto set = sql(node, fmt::format("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={}'", is_cut ? 1 : 0));
  return set ? Result<void>() : fail(set.error());
}

}  // namespace rota::testing
