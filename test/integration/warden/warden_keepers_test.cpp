// Keepers that serve one attempt after the other, and what the next attempt must not see of the one before.
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include <doctest/doctest.h>

#include "test/integration/warden/warden_rig.h"
#include "worker/warden/process_scan.h"

namespace rota::test {
namespace {

using warden::Ended;
using warden::KilledBy;
using warden::Started;
using warden::User;

constexpr std::uint32_t kNobody = 65534;

bool is_root() { return ::geteuid() == 0; }

/// A warden under which an ordinary user's attempts run; not everywhere are there namespaces for them.
struct Keepers : WardenUnderTest {
  Keepers() { ::chmod(folder().c_str(), 0755); }
  bool serve_again() const { return welcome().means == warden::Means::PidNamespace; }
  struct Seen {
    pid_t keeper = -1;
    std::string out;
    Ended end;
  };
  Seen run(const warden::Start& request) {
    const Started started = start(request);
    return {started.pid, read_all(started.out.get()), await<Ended>(request.key)};
  }
  void let_go() { std::ofstream(folder() + "/go") << "go"; }
  std::string until_let_go() const { return "while [ ! -e " + folder() + "/go ]; do sleep 0.02; done"; }
};

warden::Start of_nobody(warden::Start request, const std::string& space = "a") {
  if (is_root()) request.user = User{kNobody, kNobody, {}};
  request.space = space;
  return request;
}

}  // namespace

TEST_CASE("keepers: one serves again, with a process number, folder and descriptors as the first time") {
  Keepers under;
  if (!under.serve_again()) return;
  // The shell itself counts the processes: the parts of a pipe would count each other, or not yet.
  const std::string report = "ls /proc/self/fd | tr '\\n' ' '; set -- /proc/[0-9]*; echo $#; pwd; id -u; echo $WHO >&3";
  auto first = of_nobody(shell(1, report)), second = of_nobody(shell(2, report));
  first.progress = second.progress = true;
  second.environment.push_back("WHO=two");
  second.folder = "/usr";
  const auto one = under.run(first);
  CHECK(one.out.ends_with("\n/\n65534\n"));
  const Started started = under.start(second);
  CHECK(started.pid == one.keeper);
  const std::string out = read_all(started.out.get());
  CHECK(out.ends_with("\n/usr\n65534\n"));
  CHECK(out.substr(0, out.find('\n')) == one.out.substr(0, one.out.find('\n')));
  CHECK(read_all(started.progress.get()) == "two\n");
  const Ended end = under.await<Ended>(key(2));
  CHECK(end.proven_empty);
  CHECK(end.exit_status == 0);
  CHECK(end.empty_at >= end.ended);
  CHECK(end.cpu_us > 0);
  CHECK(end.cpu_us < one.end.cpu_us + 1'000'000);
  CHECK(end.peak_memory_bytes > 500'000);
}

TEST_CASE("keepers: never again after root, nor for another space or user") {
  Keepers under;
  if (!under.serve_again()) return;
  const auto nobody = under.run(of_nobody(command(1, {"/bin/true"})));
  CHECK(under.run(of_nobody(command(2, {"/bin/true"}), "b")).keeper != nobody.keeper);
  CHECK(under.run(of_nobody(command(6, {"/bin/true"}), "")).keeper != nobody.keeper);
  CHECK(under.run(of_nobody(command(7, {"/bin/true"}))).keeper == nobody.keeper);
  if (!is_root()) return;
  auto other = of_nobody(command(3, {"/bin/true"}));
  other.user->uid = kNobody - 1;
  CHECK(under.run(other).keeper != nobody.keeper);
  auto root = command(4, {"/bin/true"}), root_again = command(5, {"/bin/true"});
  root.space = root_again.space = "a";
  const pid_t of_root = under.run(root).keeper;
  CHECK(of_root != nobody.keeper);
  CHECK(under.run(root_again).keeper != of_root);
}

TEST_CASE("keepers: a bind mount and System V memory are not seen by the next attempt") {
  Keepers under;
  if (!under.serve_again()) return;
  SUBCASE("System V memory of an ordinary user, whose keeper serves again") {
    // The second is the first that the keeper serves again.
    std::set<pid_t> keepers;
    for (int run = 1; run <= 2; ++run) {
      const auto seen = under.run(of_nobody(shell(run, "ipcmk -M 4096 >/dev/null; ipcs -m | grep -c ^0x")));
      CHECK(seen.out == "1\n");
      keepers.insert(seen.keeper);
    }
    const auto last = under.run(of_nobody(shell(3, "ipcs -m | grep -c ^0x")));
    keepers.insert(last.keeper);
    CHECK(last.out == "0\n");
    CHECK(keepers.size() == 1);
  }
  if (!is_root()) return;
  SUBCASE("a bind mount of root") {
    auto mount = shell(1, "mount --bind /usr /mnt && ls /mnt"), look = shell(2, "ls /mnt");
    mount.space = look.space = "a";
    CHECK(under.run(mount).out.find("bin\n") != std::string::npos);
    CHECK(under.run(look).out.find("bin\n") == std::string::npos);
  }
  SUBCASE("a mount that somebody else makes in an ordinary user's namespace") {
    const auto waiting = of_nobody(shell(1, "true marker-mounts; " + under.until_let_go()));
    const Started started = under.start(waiting);
    REQUIRE(eventually([] { return processes_with("marker-mounts").size() == 1; }));
    const std::string pid = std::to_string(processes_with("marker-mounts").front());
    REQUIRE(std::system(("nsenter -t " + pid + " -m mount -t tmpfs none /mnt").c_str()) == 0);
    under.let_go();
    CHECK(under.await<Ended>(key(1)).proven_empty);
    const auto next = under.run(of_nobody(shell(2, "grep -c ' /mnt ' /proc/self/mounts")));
    CHECK(next.keeper != started.pid);
    CHECK(next.out == "0\n");
  }
}

TEST_CASE("keepers: one whose attempt leaves somebody behind ends him, and serves no more") {
  Keepers under;
  if (!under.serve_again()) return;
  const auto one = under.run(of_nobody(shell(1, "setsid sleep 4711 </dev/null >/dev/null 2>&1 3>&1 & sleep 0.05")));
  CHECK(one.end.proven_empty);
  CHECK(processes_with("4711").empty());
  const auto two = under.run(of_nobody(command(2, {"/bin/true"})));
  CHECK(two.keeper != one.keeper);
  CHECK(under.run(of_nobody(command(3, {"/bin/true"}))).keeper == two.keeper);
}

TEST_CASE("keepers: TERM, timeout and kill reach the attempt that is served now, which is the keeper's last") {
  Keepers under;
  if (!under.serve_again()) return;
  const pid_t keeper = under.run(of_nobody(command(1, {"/bin/true"}))).keeper;
  auto request = of_nobody(shell(2, "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done"));
  SUBCASE("TERM") {
    const Started started = under.start(request);
    CHECK(started.pid == keeper);
    char ready[6];
    REQUIRE(eventually([&] { return ::read(started.out.get(), ready, sizeof ready) > 0; }));
    REQUIRE(under.client().kill(key(2), kPatience, KilledBy::Cancel));
    const Ended end = under.await<Ended>(key(2));
    CHECK(end.exit_status == 5);
    CHECK(end.killed_by == KilledBy::Cancel);
    CHECK(end.proven_empty);
  }
  SUBCASE("KILL after the timeout") {
    request = of_nobody(shell(2, "trap '' TERM; while :; do sleep 0.02; done"));
    request.timeout = Millis{100};
    request.kill_grace = Millis{100};
    const auto two = under.run(request);
    CHECK(two.keeper == keeper);
    CHECK(two.end.killed_by == KilledBy::Timeout);
    CHECK(two.end.kill_sent);
    CHECK(two.end.proven_empty);
  }
  CHECK(under.run(of_nobody(command(3, {"/bin/true"}))).keeper != keeper);
}

TEST_CASE("keepers: the next attempt lives as long as its own grace says, also when the warden is stopped") {
  Keepers under;
  if (!under.serve_again()) return;
  auto first = of_nobody(command(1, {"/bin/true"}));
  first.disconnect_grace = std::chrono::hours{1};
  const pid_t keeper = under.run(first).keeper;
  const Started started = under.start(of_nobody(command(2, {"/bin/sleep", "4712"})));
  CHECK(started.pid == keeper);
  REQUIRE(eventually([] { return processes_with("4712").size() == 1; }));
  REQUIRE(under.client().vouch(BootClock::now() + Millis{300}));
  REQUIRE(under.client().ping());
  under.await_any<warden::Pong>();
  const pid_t inner = under.inner_pid();
  ::kill(inner, SIGSTOP);
  CHECK(eventually([] { return processes_with("4712").empty(); }));
  ::kill(inner, SIGCONT);
  under.await_next_life();
  REQUIRE(under.client().list(1));
  const auto held = under.await<warden::Held>(key(2));
  const Ended end = held.end ? *held.end : under.await<Ended>(key(2));
  CHECK(end.killed_by == KilledBy::Voucher);
  CHECK(end.proven_empty);
}

TEST_CASE("keepers: hundreds of attempts leave one keeper, no zombie and no descriptor behind") {
  Keepers under;
  if (!under.serve_again()) return;
  std::set<pid_t> keepers{under.run(of_nobody(command(1, {"/bin/true"}))).keeper};
  REQUIRE(under.client().forget(key(1)));
  const std::size_t before = descriptors_of_process(under.inner_pid());
  for (int run = 2; run <= 300; ++run) {
    const auto seen = under.run(of_nobody(command(run, {"/bin/true"})));
    keepers.insert(seen.keeper);
    CHECK(seen.end.exit_status == 0);
    REQUIRE(under.client().forget(key(run)));
  }
  CHECK(keepers.size() == 1);
  CHECK(eventually([&] { return descriptors_of_process(under.inner_pid()) <= before; }));
  CHECK(zombies_below(under.inner_pid()) == 0);
}

TEST_CASE("keepers: none waits for a proper that does not listen") {
  Keepers under;
  if (!under.serve_again()) return;
  const auto keepers = [&] {
    return std::ranges::count_if(warden::list_processes(), [&](const auto& process) {
      return process.parent == under.inner_pid() && process.identity.pid != under.proper_pid();
    });
  };
  under.start(of_nobody(shell(1, "true marker-listens; " + under.until_let_go())));
  CHECK(keepers() == 1);
  under.kill_nine(under.proper_pid());
  under.await_next_life();
  under.let_go();
  CHECK(eventually([&] { return processes_with("marker-listens").empty() && keepers() == 0; }));
  REQUIRE(under.client().list(1));
  CHECK(under.await<warden::Held>(key(1)).end->proven_empty);
}

TEST_CASE("keepers: one that is killed while it rests is passed over") {
  Keepers under;
  if (!under.serve_again()) return;
  under.run(of_nobody(command(1, {"/bin/true"})));
  for (const auto& process : warden::list_processes()) {
    const bool is_keeper = process.parent == under.inner_pid() && process.identity.pid != under.proper_pid();
    if (!is_keeper) continue;
    const UniqueFd keeper(static_cast<int>(::syscall(SYS_pidfd_open, process.identity.pid, 0)));
    ::kill(process.identity.pid, SIGKILL);
    pollfd death{keeper.get(), POLLIN, 0};
    CHECK(::poll(&death, 1, static_cast<int>(kPatience.count())) == 1);  // until then its socket is open
  }
  CHECK(under.run(of_nobody(command(2, {"/bin/true"}))).end.exit_status == 0);
}

}  // namespace rota::test
