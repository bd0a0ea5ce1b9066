#include "test/support/etcd_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "common/base/file.h"
#include "common/base/random.h"
#include "master/cluster/etcd_client.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"

namespace rota::testing {
namespace {

constexpr char kEtcd[] = "/usr/bin/etcd";
// It dies with the thread that started it, so that a crashed test leaves no server.
constexpr char kKeeper[] = "/usr/bin/setpriv";

pid_t spawn_quietly(std::vector<std::string> words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, argv.data(), environ) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

bool has_etcd() { return ::access(kEtcd, X_OK) == 0 && ::access(kKeeper, X_OK) == 0; }

EtcdServer::EtcdServer()
    : folder_((std::filesystem::temp_directory_path() / ("rota-etcd-" + random_hex(6))).string()) {}

EtcdServer::~EtcdServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<void> EtcdServer::start() {
  if (port_ == 0) {
    port_ = free_port();
    peer_port_ = free_port();
  }
  if (auto made = make_folders(folder_); !made) return made;
  const std::string client = endpoint(port_), peer = endpoint(peer_port_);
  pid_ = spawn_quietly({kKeeper, "--pdeathsig", "KILL", kEtcd, "--data-dir", folder_ + "/data", "--name", "one",
                        "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                        "--initial-advertise-peer-urls", peer, "--initial-cluster", "one=" + peer});
  if (pid_ < 0) return fail(ErrorCode::Internal, "cannot start etcd");
  return wait_until_up();
}

Result<void> EtcdServer::wait_until_up() {
  master::cluster::EtcdClient client({{endpoint(port_)}, Millis{1000}});
  const bool is_up = eventually([&] {
    return client.post("/v3/kv/range", nlohmann::json::object({{"key", "YQ=="}})).has_value() ||
           ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  });
  if (is_up && ::kill(pid_, 0) == 0) return {};
  kill();
  return fail(ErrorCode::Unavailable, "the etcd server does not come up");
}

void EtcdServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace rota::testing
