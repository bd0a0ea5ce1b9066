#include "test/support/zookeeper_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/random.h"
#include "common/base/unique_fd.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"

namespace rota::testing {

namespace {

// The jar names its own libraries; slf4j-nop keeps the server silent. Its files survive kill -9 without a sync, so
// a slow disk delays no test.
constexpr char kClassPath[] = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar";
constexpr char kJava[] = "/usr/bin/java";
// It dies with the thread that started it, so that a crashed test leaves no server.
constexpr char kSetpriv[] = "/usr/bin/setpriv";

/// The server's answer to "srvr"; empty when there is none.
std::string ask_status(std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const sockaddr_in address = loopback_address(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  if (::send(fd.get(), "srvr", 4, MSG_NOSIGNAL) != 4) return {};
  std::string answer;
  char buffer[512];
  for (ssize_t n = 0; (n = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  return answer;
}

pid_t spawn_server(const std::string& config) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words{kSetpriv, "--pdeathsig", "KILL", kJava, "-Xmx256m", 
                                 "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Dzookeeper.forceSync=no",
                                 "-cp", kClassPath,
                                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", config};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawn(&pid, kSetpriv, &actions, nullptr, argv.data(), environ) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

bool has_zookeeper() {
  return ::access(kJava, X_OK) == 0 && ::access(kSetpriv, X_OK) == 0 &&
         ::access("/usr/share/java/zookeeper.jar", R_OK) == 0;
}

ZookeeperServer::ZookeeperServer(Millis tick) : tick_(tick) {
  folder_ = (std::filesystem::temp_directory_path() / ("rota-zk-" + random_hex(6))).string();
}

ZookeeperServer::~ZookeeperServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ZookeeperServer::address() const { return "127.0.0.1:" + std::to_string(port_); }

void ZookeeperServer::join_ensemble(int number, std::string lines) {
  number_ = number;
  ensemble_ = std::move(lines);
}

std::string ZookeeperServer::mode() const {
  const std::string status = ask_status(port_);
  const auto at = status.find("Mode: ");
  if (at == std::string::npos) return {};
  const auto start = at + 6;
  return status.substr(start, status.find('\n', start) - start);
}

Result<void> ZookeeperServer::write_configuration() {
  if (auto made = make_folders(folder_ + "/data"); !made) return made;
  if (!ensemble_.empty()) {
    const auto id = write_file_synced(folder_ + "/data/myid", std::to_string(number_) + "\n");
    if (!id) return id;
  }
  return write_file_synced(folder_ + "/zoo.cfg",
                           "tickTime=" + std::to_string(tick_.count()) +
                               "\nmaxSessionTimeout=40000\ndataDir=" + folder_ +
                               "/data\nclientPort=" + std::to_string(port_) +
                               "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
                               "maxClientCnxns=0\n4lw.commands.whitelist=srvr,ruok,mntr\n" +
                               ensemble_);
}

Result<void> ZookeeperServer::launch() {
  if (port_ == 0) port_ = free_port();
  if (auto written = write_configuration(); !written) return written;
  pid_ = spawn_server(folder_ + "/zoo.cfg");
  if (pid_ < 0) return fail(ErrorCode::Internal, "cannot start java");
  return {};
}

Result<void> ZookeeperServer::start() {
  const bool first = port_ == 0;
  for (int i = 0; i < 3; ++i) {
    if (first) port_ = 0;
    if (auto launched = launch(); !launched) return launched;
    if (wait_until_up()) return {};
    kill();  // another process may have taken the port meanwhile
  }
  return fail(ErrorCode::Unavailable, "the ZooKeeper server does not come up");
}

Result<void> ZookeeperServer::wait_until_up() {
  for (const MonoTime end = BootClock::now() + kPatience; BootClock::now() < end;) {
    if (!mode().empty()) return {};
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return fail(ErrorCode::Unavailable, "the ZooKeeper server ended at once");
    }
    std::this_thread::sleep_for(Millis{10});
  }
  return fail(ErrorCode::TimedOut, "the ZooKeeper server does not answer");
}

void ZookeeperServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool ZookeeperServer::keep_data(const std::string& name) const {
  std::error_code error;
  std::filesystem::copy(folder_ + "/data", folder_ + "/" + name, std::filesystem::copy_options::recursive, error);
  return pid_ <= 0 && !error;
}

bool ZookeeperServer::put_data_back(const std::string& name) const {
  std::error_code error;
  if (!lose_data()) return false;
  std::filesystem::copy(folder_ + "/" + name, folder_ + "/data", std::filesystem::copy_options::recursive, error);
  return !error;
}

bool ZookeeperServer::lose_data() const {
  std::error_code error;
  std::filesystem::remove_all(folder_ + "/data/version-2", error);
  return pid_ <= 0 && !error;
}

void ZookeeperServer::freeze() {
  if (pid_ > 0 && ::kill(pid_, SIGSTOP) == 0) ::waitpid(pid_, nullptr, WUNTRACED);
}

void ZookeeperServer::thaw() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

}  // namespace rota::testing
