#include "test/integration/warden/warden_rig.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <doctest/doctest.h>

#include "common/base/file.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/process_scan.h"

namespace rota::test {

namespace {

UniqueFd listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(socket.get(), 8) == 0);
  ::chmod(path.c_str(), 0777);
  return socket;
}

bool is_readable(int fd, Millis patience) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(patience.count())) > 0;
}

UniqueFd receive_descriptor(int connection) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (::recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1) return UniqueFd{};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return UniqueFd{};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

std::string file_content(const std::string& path) {
  return read_file(path).value_or("");
}

/// A folder that every user may use, so that the same tests run as another user.
std::string fresh_folder() {
  char path[] = "/tmp/rota-warden-XXXXXX";
  REQUIRE(::mkdtemp(path) != nullptr);
  return path;
}

}  // namespace

AttemptKey key(std::int64_t run, AttemptNo attempt) { return AttemptKey{RunId{run}, attempt}; }

warden::Start command(std::int64_t run, std::vector<std::string> argv) {
  warden::Start out;
  out.key = key(run);
  out.argv = std::move(argv);
  out.environment = {"PATH=/usr/bin:/bin"};
  out.note = "note of " + std::to_string(run);
  return out;
}

warden::Start shell(std::int64_t run, std::string script) {
  return command(run, {"/bin/sh", "-c", std::move(script)});
}

WardenUnderTest::WardenUnderTest(std::string means, bool vouched, std::string cgroup_dir)
    : folder_(fresh_folder()) {
  listener_ = listen_at(folder_ + "/proper.sock");
  launch(means, cgroup_dir);
  await_next_life();
  if (vouched) REQUIRE(client_->vouch(BootClock::now() + std::chrono::hours{1}));
}

WardenUnderTest::~WardenUnderTest() {
  if (outer_ > 0) {
    ::kill(outer_, SIGKILL);
    ::waitpid(outer_, nullptr, 0);
  }
  const std::string sweep = std::string(ROTA_WARDEN) + " --sweep " + folder_ + " >/dev/null 2>&1";
  CHECK(std::system(sweep.c_str()) == 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void WardenUnderTest::launch(const std::string& means, const std::string& cgroup_dir) {
  const std::string socket = folder_ + "/proper.sock";
  outer_ = ::fork();
  REQUIRE(outer_ >= 0);
  if (outer_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test program that is killed leaves nothing behind
    ::execl(ROTA_WARDEN, "rota-warden", "--means", means.c_str(), "--state-dir", folder_.c_str(),
            "--cgroup-dir", cgroup_dir.c_str(), "--", ROTA_PROPER_DOUBLE, socket.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(99);
  }
}

void WardenUnderTest::await_next_life() {
  client_.reset();
  kept_.clear();
  REQUIRE(is_readable(listener_.get(), kPatience));
  const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(connection.is_open());
  ucred peer{};
  socklen_t size = sizeof peer;
  REQUIRE(::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
  proper_ = peer.pid;
  UniqueFd socket = receive_descriptor(connection.get());
  REQUIRE(socket.is_open());
  client_ = std::make_unique<warden::WardenClient>(std::move(socket));
  welcome_ = await_any<warden::Welcome>();
}

pid_t WardenUnderTest::inner_pid() const {
  if (welcome_.means != warden::Means::PidNamespace) return outer_;
  for (const auto& process : warden::list_processes()) {
    if (process.parent == outer_) return process.identity.pid;
  }
  return -1;
}

namespace {

AttemptKey key_of(const warden::Started& m) { return m.key; }
AttemptKey key_of(const warden::Ended& m) { return m.key; }
AttemptKey key_of(const warden::Held& m) { return m.running.key; }

}  // namespace

template <typename T>
T WardenUnderTest::await_if(const std::function<bool(const T&)>& fits) {
  const MonoTime deadline = BootClock::now() + kPatience;
  for (;;) {
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      T* message = std::get_if<T>(&*it);
      if (message == nullptr || !fits(*message)) continue;
      T out = std::move(*message);
      kept_.erase(it);
      return out;
    }
    auto more = client_->receive(Millis{100});
    if (!more) FAIL("the warden is gone: " << more.error().message);
    for (warden::Notice& notice : *more) kept_.push_back(std::move(notice));
    if (BootClock::now() > deadline) FAIL("no such notice came");
  }
}

template <typename T>
T WardenUnderTest::await(const AttemptKey& wanted) {
  return await_if<T>([&](const T& message) { return key_of(message) == wanted; });
}
template <typename T>
T WardenUnderTest::await_any() {
  return await_if<T>([](const T&) { return true; });
}

template warden::Started WardenUnderTest::await(const AttemptKey&);
template warden::Ended WardenUnderTest::await(const AttemptKey&);
template warden::Held WardenUnderTest::await(const AttemptKey&);
template warden::Welcome WardenUnderTest::await_any();
template warden::ListEnd WardenUnderTest::await_any();
template warden::Pong WardenUnderTest::await_any();

warden::Started WardenUnderTest::start(const warden::Start& request) {
  REQUIRE(client_->start(request));
  return await<warden::Started>(request.key);
}

void WardenUnderTest::kill_nine(pid_t pid) {
  REQUIRE(pid > 1);
  REQUIRE(::kill(pid, SIGKILL) == 0);
}

int WardenUnderTest::wait_for_end() {
  int status = 0;
  REQUIRE(eventually([&] { return ::waitpid(outer_, &status, WNOHANG) == outer_; }));
  outer_ = -1;
  return status;
}

std::string read_all(int fd) {
  std::string out;
  char part[65536];
  while (is_readable(fd, kPatience)) {
    const ssize_t got = ::read(fd, part, sizeof part);
    if (got == 0) return out;
    if (got > 0) out.append(part, static_cast<std::size_t>(got));
    if (got < 0 && errno != EAGAIN && errno != EINTR) return out;
  }
  return out + "(no end came)";
}

std::string await_line_in(const std::string& path) {
  std::string content;
  eventually([&] {
    content = file_content(path);
    return content.find('\n') != std::string::npos;
  });
  return content.substr(0, content.find('\n'));
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> out;
  for (const auto& process : warden::list_processes()) {
    const std::string folder = "/proc/" + std::to_string(process.identity.pid);
    if (process.is_dead || process.identity.pid == ::getpid()) continue;
    if (file_content(folder + "/environ").find(text) != std::string::npos ||
        file_content(folder + "/cmdline").find(text) != std::string::npos) {
      out.push_back(process.identity.pid);
    }
  }
  return out;
}

std::size_t descriptors_of_process(pid_t pid) {
  const auto names = names_in("/proc/" + std::to_string(pid) + "/fd");
  return names ? names->size() : 0;
}

std::size_t zombies_below(pid_t pid) {
  std::size_t count = 0;
  for (const auto& process : warden::list_processes()) {
    if (process.parent != pid) continue;
    count += process.is_dead ? 1 : 0;
    count += zombies_below(process.identity.pid);
  }
  return count;
}

bool is_alive(pid_t pid) {
  const auto seen = warden::look_at(pid);
  return seen && !seen->is_dead;
}

bool has_cgroups() {
  static const bool has = warden::CgroupTree::open("rota-test-" + std::to_string(::getpid())).has_value();
  return has;
}

std::vector<std::string> means_here() {
  std::vector<std::string> all{"auto", "scan"};
  if (has_cgroups()) all.emplace_back("cgroup");
  return all;
}

}  // namespace rota::test
