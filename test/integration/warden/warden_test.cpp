// Starting, ending, killing: on the means that this host offers, and on the scan.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "test/integration/warden/warden_rig.h"
#include "test/support/lone_seconds.h"
#include "worker/warden/process_scan.h"

namespace rota::test {
namespace {

using warden::Ended;
using warden::Held;
using warden::KilledBy;
using warden::ListEnd;
using warden::Started;
using warden::StartStep;

/// Runs the rest of the test case once for each means.
std::string each_means() {
  static const std::vector<std::string> all = means_here();
  std::string means;
  for (const std::string& name : all) {
    SUBCASE(name.c_str()) { means = name; }
  }
  return means;
}

#define FOR_EACH_MEANS(means)       \
  std::string means = each_means(); \
  if (means.empty()) return

Ended run_to_end(WardenUnderTest& under, const warden::Start& request) {
  REQUIRE(under.client().start(request));
  return under.await<Ended>(request.key);
}

TEST_CASE("warden: reports exit status, output and times of a command") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  CHECK(under.welcome().life == 1);
  CHECK(under.welcome().outer_pid == under.proper_pid());
  const Started started = under.start(shell(1, "echo out; echo err >&2; exit 7"));
  CHECK(read_all(started.out.get()) == "out\n");
  CHECK(read_all(started.err.get()) == "err\n");
  const Ended end = under.await<Ended>(key(1));
  CHECK(end.exit_status == 7);
  CHECK(end.signal == 0);
  CHECK(end.failed_step == StartStep::None);
  CHECK(end.proven_empty);
  CHECK(end.killed_by == KilledBy::None);
  CHECK(end.ended >= end.started);
  CHECK(end.peak_memory_bytes > 500'000);
}

TEST_CASE("warden: reports the signal that ended a command") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const Ended end = run_to_end(under, shell(1, "kill -SEGV $$"));
  CHECK(end.exit_status == -1);
  CHECK(end.signal == SIGSEGV);
}

TEST_CASE("warden: a job has its own session, no foreign descriptor and sane process numbers") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string report =
      "ls /proc/self/fd | tr '\\n' ' '; test \"$(readlink /proc/self/exe)\" && echo proc;"
      "test -d /proc/$$ && tr '\\0' ' ' </proc/$$/cmdline | cut -c1-7; umask;"
      "grep NoNewPrivs /proc/self/status | tr -d '\\t'; pwd; kill -0 $PPID 2>/dev/null; echo";
  warden::Start request = shell(1, report);
  request.umask = 027;
  request.folder = "/usr";
  const Started started = under.start(request);
  const std::string out = read_all(started.out.get());
  // ls itself opens the folder as 3
  CHECK_MESSAGE(out.starts_with("0 1 2 3 proc\n/bin/sh\n0027\nNoNewPrivs:1\n/usr\n"), out);
  CHECK(under.await<Ended>(key(1)).exit_status == 0);
}

TEST_CASE("warden: nice, limits, environment and the progress pipe reach the job") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  warden::Start request = shell(1, "nice; ulimit -n; echo $GREETING; echo 40% >&3");
  request.environment.push_back("GREETING=hello world");
  request.nice = 3;
  request.limits = {{RLIMIT_NOFILE, 77, 77}};
  request.progress = true;
  const int own = ::getpriority(PRIO_PROCESS, 0);
  const Started started = under.start(request);
  CHECK(read_all(started.out.get()) == std::to_string(std::min(own + 3, 19)) + "\n77\nhello world\n");
  CHECK(read_all(started.progress.get()) == "40%\n");
}

TEST_CASE("warden: a failed start is reported with the step and the reason") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string folder = under.folder();
  const auto write = [&](const std::string& name, const std::string& text, int mode) {
    std::ofstream(folder + "/" + name) << text;
    ::chmod((folder + "/" + name).c_str(), static_cast<mode_t>(mode));
    return folder + "/" + name;
  };
  const auto expect = [&](warden::Start request, StartStep step, int error) {
    const Ended end = run_to_end(under, request);
    CHECK_MESSAGE(end.failed_step == step, end.detail);
    CHECK_MESSAGE(end.error == error, end.detail);
    CHECK(end.proven_empty);
    MESSAGE(end.detail);
  };
  expect(command(1, {"/nowhere/tool"}), StartStep::Exec, ENOENT);
  expect(command(2, {"no-such-tool"}), StartStep::Exec, ENOENT);
  expect(command(3, {write("plain", "text", 0644)}), StartStep::Exec, EACCES);
  expect(command(4, {write("noexec", "\x7f not a program", 0755)}), StartStep::Exec, ENOEXEC);
  expect(command(5, {write("badshebang", "#!/nowhere/sh\n", 0755)}), StartStep::Exec, ENOENT);
  expect(command(6, {"/bin/echo", std::string(200'000, 'x')}), StartStep::Exec, E2BIG);
  expect(command(10, {"/bin/echo", std::string(3'000'000, 'x')}), StartStep::Exec, E2BIG);
  expect(command(7, {""}), StartStep::Exec, ENOENT);
  expect(command(11, {"/" + std::string(50'000, 'x')}), StartStep::Exec, ENAMETOOLONG);
  warden::Start nowhere = command(8, {"/bin/true"});
  nowhere.folder = "/nowhere";
  expect(nowhere, StartStep::Folder, ENOENT);
  nowhere.key = key(9);
  nowhere.folder = "/bin/true";
  expect(nowhere, StartStep::Folder, ENOTDIR);
}

TEST_CASE("warden: a program that is being written to is text busy") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string copy = under.folder() + "/true";
  REQUIRE(std::system(("cp /bin/true " + copy).c_str()) == 0);
  std::ofstream writer(copy, std::ios::app);
  REQUIRE(writer.is_open());
  const Ended end = run_to_end(under, command(1, {copy}));
  CHECK(end.failed_step == StartStep::Exec);
  CHECK(end.error == ETXTBSY);
}

TEST_CASE("warden: starts nothing without a voucher, and says so") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means, false);
  const Ended end = run_to_end(under, command(1, {"/bin/true"}));
  CHECK(end.failed_step == StartStep::Refused);
  CHECK(end.detail == "no valid voucher");
}

TEST_CASE("warden: a start of a held key changes nothing") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string file = under.folder() + "/count";
  const warden::Start request = shell(1, "echo x >> " + file + "; sleep 600");
  const Started first = under.start(request);
  CHECK(await_line_in(file) == "x");
  const Started again = under.start(request);
  CHECK(again.pid == first.pid);
  REQUIRE(under.client().kill(key(1), Millis{0}));
  CHECK(under.await<Ended>(key(1)).proven_empty);
  CHECK(run_to_end(under, request).signal == SIGKILL);
  CHECK(std::filesystem::file_size(file) == 2);
}

/// Twenty double-forked grandchildren in sessions of their own that ignore TERM.
std::string daemons(const std::string& file, const std::string& then) {
  return "trap '' TERM HUP; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do"
         " (setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &); done; echo ready > " + file +
         "; " + then;
}

TEST_CASE("warden: kills daemonised grandchildren that ignore TERM, and proves it") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string token = warden::state_token(under.state_dir()) + ".1.";
  under.start(shell(1, daemons(under.folder() + "/f", "sleep 600")));
  REQUIRE(await_line_in(under.folder() + "/f") == "ready");
  REQUIRE(eventually([&] { return processes_with(token).size() >= 40; }));
  const MonoTime asked = BootClock::now();
  REQUIRE(under.client().kill(key(1), Millis{100}));
  const Ended end = under.await<Ended>(key(1));
  const auto took = BootClock::now() - asked - Millis{100};
  CHECK(processes_with(token).empty());
  CHECK(end.proven_empty);
  CHECK(end.term_sent);
  CHECK(end.kill_sent);
  CHECK(end.killed_by == KilledBy::Cancel);
  MESSAGE(means, ": 40 processes dead and proven ", took.count(), " us after KILL was due");
}

TEST_CASE("warden: processes that a main process leaves behind die with it") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string token = warden::state_token(under.state_dir()) + ".1.";
  const Ended end = run_to_end(under, shell(1, daemons(under.folder() + "/f", "exit 3")));
  CHECK(end.exit_status == 3);
  CHECK(end.proven_empty);
  CHECK(end.killed_by == KilledBy::None);
  CHECK(processes_with(token).empty());
}

TEST_CASE("warden: a daemon without environment, session and pipes is found all the same") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const std::string name = testing::lone_seconds();
  const Started started = under.start(shell(
      1, "(setsid env -i /bin/sh -c '(setsid /bin/sleep " + name + " >/dev/null 2>&1 </dev/null &)' &);"
         "sleep 0.2; echo; sleep 600"));
  REQUIRE(eventually([&] { return !processes_with("sleep").empty(); }));
  char byte = 0;
  REQUIRE(eventually([&] { return ::read(started.out.get(), &byte, 1) == 1; }));
  REQUIRE(under.client().kill(key(1), Millis{0}));
  CHECK(under.await<Ended>(key(1)).proven_empty);
  CHECK(processes_with(name).empty());
}

TEST_CASE("warden: TERM lets a job clean up, and its own exit status is reported") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  const Started started =
      under.start(shell(1, "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done"));
  char line[4] = {};
  REQUIRE(eventually([&] { return ::read(started.out.get(), line, 3) == 3; }));
  REQUIRE(under.client().kill(key(1), kPatience));
  const Ended end = under.await<Ended>(key(1));
  CHECK(end.exit_status == 5);
  CHECK(end.term_sent);
  CHECK_FALSE(end.kill_sent);
  CHECK(read_all(started.out.get()) == "bye\n");
}

TEST_CASE("warden: a stopped job dies too") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  under.start(shell(1, "kill -STOP $$; sleep 600"));
  REQUIRE(under.client().kill(key(1), Millis{50}));
  const Ended end = under.await<Ended>(key(1));
  CHECK(end.proven_empty);
}

TEST_CASE("warden: a timeout is reported as such") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  std::int64_t run = 0;
  Ended end;
  for (const std::int64_t timeout_ms : testing::kGrowingMs) {
    warden::Start request = shell(++run, "trap '' TERM; while :; do sleep 0.01; done");
    request.timeout = Millis{timeout_ms};
    request.kill_grace = Millis{100};
    end = run_to_end(under, request);
    if (end.signal != SIGKILL) continue;  // TERM came before its trap
    CHECK(end.ended - end.started >= Millis{timeout_ms + 100});
    MESSAGE(means, ": timeout ", timeout_ms, " ms + grace 100 ms, ended after ",
            floor_ms(end.ended - end.started).count(), " ms");
    break;
  }
  CHECK(end.killed_by == KilledBy::Timeout);
  CHECK(end.signal == SIGKILL);
}

TEST_CASE("warden: a job cannot end its keeper or another job") {
  WardenUnderTest under("auto");
  if (under.welcome().means != warden::Means::PidNamespace) return;
  under.start(shell(2, "sleep 600"));
  const Started nasty = under.start(
      shell(1, "kill -9 1; kill -USR1 1; kill -TERM 1; kill -9 -1 2>/dev/null; echo alive; exit 4"));
  CHECK(read_all(nasty.out.get()) == "alive\n");
  CHECK(under.await<Ended>(key(1)).exit_status == 4);
  REQUIRE(under.client().list(9));
  CHECK_FALSE(under.await<Held>(key(2)).end.has_value());
}

TEST_CASE("warden: holds an end until it may forget it") {
  FOR_EACH_MEANS(means);
  WardenUnderTest under(means);
  run_to_end(under, shell(1, "exit 1"));
  REQUIRE(under.client().list(5));
  const Held held = under.await<Held>(key(1));
  REQUIRE(held.end);
  CHECK(held.end->exit_status == 1);
  CHECK(held.note == "note of 1");
  ListEnd list = under.await_any<ListEnd>();
  CHECK(list.token == 5);
  CHECK(list.count == 1);
  REQUIRE(under.client().forget(key(1)));
  REQUIRE(under.client().list(6));
  list = under.await_any<ListEnd>();
  CHECK(list.token == 6);
  CHECK(list.count == 0);
}

TEST_CASE("warden: answers pings") {
  WardenUnderTest under("auto");
  CHECK(under.client().is_answering());
  const MonoTime asked = BootClock::now();
  REQUIRE(under.client().ping());
  under.await_any<warden::Pong>();
  MESSAGE("answered in ", (BootClock::now() - asked).count(), " us");
  CHECK(under.client().is_answering(Millis{0}));
}

TEST_CASE("warden: garbage on its socket is dropped, and it goes on") {
  WardenUnderTest under("auto");
  std::string garbage("\x00\x01\xff\xff\xff\xff", 6);
  for (int i = 0; i < 1000; ++i) {
    garbage[static_cast<std::size_t>(i) % garbage.size()] = static_cast<char>(i * 37);
    ::send(under.client().fd(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  CHECK(run_to_end(under, shell(1, "exit 3")).exit_status == 3);
}

}  // namespace
}  // namespace rota::test
