// Whatever dies or stops: the proper, either warden, the vouchers.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "common/base/file.h"
#include "test/integration/warden/warden_rig.h"
#include "test/support/lone_seconds.h"
#include "test/support/stall_meter.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/launch.h"
#include "worker/warden/process_scan.h"

namespace rota::test {
namespace {

using warden::Ended;
using warden::Held;
using warden::KilledBy;
using warden::ListEnd;
using warden::Means;
using warden::Started;
using warden::Still;

std::string token_of(const WardenUnderTest& under) {
  return warden::state_token(under.state_dir()) + ".";
}

/// Processes of attempts (not the proper), as the host sees them.
std::size_t jobs_of(const WardenUnderTest& under) {
  const std::size_t all = processes_with(token_of(under)).size();
  return all - std::min(all, processes_with(token_of(under) + "proper").size());
}

TEST_CASE("warden: five running jobs outlive a kill -9 of the proper, and lose no byte") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    constexpr int kJobs = 5, kLines = 20'000;
    std::string seen[kJobs];
    {
      std::vector<Started> before;
      for (int i = 0; i < kJobs; ++i) {
        before.push_back(under.start(shell(i + 1,
            "i=0; while [ $i -lt " + std::to_string(kLines) + " ]; do echo line $i; i=$((i+1)); done;"
            " test -e " + under.folder() + "/go || sleep 0.2; exit " + std::to_string(i))));
      }
      for (int i = 0; i < kJobs; ++i) {
        char part[1000];
        REQUIRE(eventually([&] {
          const ssize_t got = ::read(before[static_cast<std::size_t>(i)].out.get(), part, sizeof part);
          if (got > 0) seen[i].append(part, static_cast<std::size_t>(got));
          return got > 0;
        }));
      }
    }
    const MonoTime killed = BootClock::now();
    under.kill_nine(under.proper_pid());
    under.await_next_life();
    const auto took = BootClock::now() - killed;
    CHECK(under.welcome().life == 2);
    CHECK(under.welcome().held == kJobs);
    REQUIRE(under.client().list(1));
    for (int i = 0; i < kJobs; ++i) {
      const Held held = under.await<Held>(key(i + 1));
      CHECK(held.note == "note of " + std::to_string(i + 1));
      seen[i] += read_all(held.running.out.get());
      std::string expected;
      for (int line = 0; line < kLines; ++line) expected += "line " + std::to_string(line) + "\n";
      CHECK(seen[i] == expected);
      if (!held.end) CHECK(under.await<Ended>(key(i + 1)).exit_status == i);
      if (held.end) CHECK(held.end->exit_status == i);
    }
    CHECK(under.await_any<ListEnd>().count == kJobs);
    MESSAGE(means, ": next life connected ", took.count(), " us after kill -9 of the proper");
  }
}

TEST_CASE("warden: an unreported end is told to the next life") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    under.start(shell(1, "exit 9"));
    under.await<Ended>(key(1));
    under.kill_nine(under.proper_pid());
    under.await_next_life();
    REQUIRE(under.client().list(1));
    const Held held = under.await<Held>(key(1));
    REQUIRE(held.end);
    CHECK(held.end->exit_status == 9);
  }
}

TEST_CASE("warden: what a killed proper asked for is done, even behind notices it never read") {
  for (const std::string& means : means_here()) {
    for (const bool has_unread : {false, true}) {
      CAPTURE(means);
      CAPTURE(has_unread);
      constexpr int kAsked = 40;
      WardenUnderTest under(means);
      under.start(shell(1, "sleep 600"));
      const pid_t inner = under.inner_pid();
      const pid_t proper = under.proper_pid();
      if (has_unread) {
        REQUIRE(under.client().start(shell(2, "exit 3")));
        REQUIRE(eventually([&] {
          pollfd item{under.client().fd(), POLLIN, 0};
          return ::poll(&item, 1, 0) > 0;
        }));
      }
      REQUIRE(::kill(inner, SIGSTOP) == 0);
      for (int i = 0; i < kAsked; ++i) REQUIRE(under.client().start(shell(10 + i, "sleep 600")));
      REQUIRE(under.client().kill(key(1), Millis{0}, KilledBy::Cancel));
      under.kill_nine(proper);
      under.drop_client();
      REQUIRE(eventually([&] { return !is_alive(proper); }));
      REQUIRE(::kill(inner, SIGCONT) == 0);
      under.await_next_life();
      CHECK(under.welcome().held == kAsked + 1 + (has_unread ? 1 : 0));
      REQUIRE(under.client().list(1));
      for (int i = 0; i < kAsked; ++i) CHECK_FALSE(under.await<Held>(key(10 + i)).end.has_value());
      const Held cancelled = under.await<Held>(key(1));
      const Ended end = cancelled.end ? *cancelled.end : under.await<Ended>(key(1));
      CHECK(end.killed_by == KilledBy::Cancel);
    }
  }
}

TEST_CASE("warden: everything dies with the inner warden") {
  WardenUnderTest under("auto");
  if (under.welcome().means != warden::Means::PidNamespace) return;
  for (int i = 1; i <= 5; ++i) under.start(shell(i, "setsid sleep 600 & trap '' TERM; sleep 600"));
  REQUIRE(eventually([&] { return jobs_of(under) >= 10; }));
  const MonoTime killed = BootClock::now();
  under.kill_nine(under.inner_pid());
  const int status = under.wait_for_end();
  const auto took = BootClock::now() - killed;
  CHECK(WEXITSTATUS(status) == 70);
  CHECK(processes_with(token_of(under)).empty());  // the outer one saw the namespace empty
  MESSAGE("all dead and the outer warden gone ", took.count(), " us after kill -9 of the inner one");
}

TEST_CASE("warden: everything dies with the outer warden") {
  WardenUnderTest under("auto");
  if (under.welcome().means != warden::Means::PidNamespace) return;
  for (int i = 1; i <= 5; ++i) under.start(shell(i, "setsid sleep 600 & trap '' TERM; sleep 600"));
  REQUIRE(eventually([&] { return jobs_of(under) >= 10; }));
  const MonoTime killed = BootClock::now();
  under.kill_nine(under.outer_pid());
  CHECK(eventually([&] { return processes_with(token_of(under)).empty(); }));
  MESSAGE("all dead ", (BootClock::now() - killed).count(), " us after kill -9 of the outer warden");
  under.wait_for_end();
  CHECK(warden::sweep(under.state_dir()).empty);
}

TEST_CASE("warden: without a namespace the sweep ends what a dead warden left") {
  WardenUnderTest under("scan");
  for (int i = 1; i <= 5; ++i) {
    under.start(shell(i, "setsid sh -c 'trap \"\" TERM; sleep 600' & trap '' TERM; sleep 600"));
  }
  REQUIRE(eventually([&] { return jobs_of(under) >= 15; }));
  CHECK(warden::sweep(under.state_dir()).warden_lives);
  CHECK(eventually([&] { return jobs_of(under) >= 15; }));
  under.kill_nine(under.outer_pid());
  under.wait_for_end();
  REQUIRE(eventually([&] { return !is_alive(under.proper_pid()); }));
  const MonoTime asked = BootClock::now();
  const warden::SweepResult swept = warden::sweep(under.state_dir());
  CHECK(swept.empty);
  CHECK(swept.killed >= 5);
  CHECK(warden::sweep_exit_status(swept) == 0);
  CHECK(processes_with(token_of(under)).empty());
  MESSAGE("swept ", swept.killed, " processes in ", (BootClock::now() - asked).count(), " us");
}

TEST_CASE("warden: with cgroups, the sweep and the next warden also end processes without the marker") {
  if (!has_cgroups()) return;
  const std::string name = testing::lone_seconds();
  const std::string shed =
      "(setsid env -i /bin/sh -c '(setsid /bin/sleep " + name + " >/dev/null 2>&1 </dev/null &)' &); sleep 600";
  WardenUnderTest under("cgroup");
  REQUIRE(under.welcome().means == warden::Means::Cgroup);
  under.start(shell(1, shed));
  REQUIRE(eventually([&] { return processes_with(name).size() == 2; }));
  under.kill_nine(under.outer_pid());
  under.wait_for_end();
  CHECK(eventually([&] { return processes_with(name).size() == 1; }));  // the main process dies at once
  SUBCASE("the sweep") { CHECK(warden::sweep(under.state_dir()).empty); }
  SUBCASE("the next warden") {
    auto next = warden::CgroupTree::open(warden::tree_name(under.state_dir()));
    CHECK(next.has_value());
  }
  CHECK(processes_with(name).empty());
}

/// Of those with the marker; while a process becomes another program its marker cannot be seen.
std::size_t sleepers_with(const std::string& marker) {
  return static_cast<std::size_t>(std::ranges::count_if(processes_with(marker), [](pid_t pid) {
    return read_file("/proc/" + std::to_string(pid) + "/comm").value_or("") == "sleep\n";
  }));
}

TEST_CASE("warden: a lapsed voucher kills the attempts and the proper, even a stopped one") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    under.start(shell(1, "trap '' TERM; setsid sleep 600 & sleep 600"));
    warden::Start patient = shell(2, "sleep 600");
    patient.disconnect_grace = std::chrono::hours{1};
    under.start(patient);
    const pid_t proper = under.proper_pid();
    REQUIRE(::kill(proper, SIGSTOP) == 0);
    REQUIRE(eventually([&] { return sleepers_with(token_of(under) + "1.") == 2; }));
    const MonoTime until = BootClock::now() + Millis{200};
    REQUIRE(under.client().vouch(until));
    REQUIRE(eventually([&] { return processes_with(token_of(under) + "1.").empty(); }));
    const MonoTime dead = BootClock::now();
    CHECK(dead > until);
    MESSAGE("seen dead " << floor_ms(dead - until).count() << " ms after the voucher lapsed");
    under.await_next_life();
    CHECK_FALSE(is_alive(proper));
    CHECK(under.welcome().life == 2);
    REQUIRE(under.client().list(1));
    const Held lapsed = under.await<Held>(key(1));
    const Ended end = lapsed.end ? *lapsed.end : under.await<Ended>(key(1));
    CHECK(end.killed_by == KilledBy::Voucher);
    CHECK(end.signal == SIGKILL);
    CHECK(end.proven_empty);
    CHECK_FALSE(under.await<Held>(key(2)).end.has_value());
    MESSAGE(means, ": seen dead ", (dead - until).count(), " us after the voucher's end");
    // The new life vouches again, and the patient attempt lives on.
    REQUIRE(under.client().vouch(BootClock::now() + std::chrono::hours{1}));
    CHECK(eventually([&] { return processes_with(token_of(under) + "2.").size() == 2; }));  // sh and sleep
  }
}

namespace {

/// The end of attempt 1, whose voucher of two seconds lapses while `stopped` stand still.
Ended end_across_a_stop(WardenUnderTest& under, MonoTime until, const std::vector<pid_t>& stopped) {
  for (const pid_t pid : stopped) REQUIRE(::kill(pid, SIGSTOP) == 0);
  std::this_thread::sleep_for(floor_ms(until - BootClock::now()) + Millis{800});
  for (auto pid = stopped.rbegin(); pid != stopped.rend(); ++pid) REQUIRE(::kill(*pid, SIGCONT) == 0);
  under.await_next_life();
  REQUIRE(under.client().list(1));
  const Held held = under.await<Held>(key(1));
  return held.end ? *held.end : under.await<Ended>(key(1));
}

pid_t parent_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const auto name_end = stat.rfind(')');
  REQUIRE(name_end != std::string::npos);
  return static_cast<pid_t>(std::stol(stat.substr(name_end + 4)));
}

/// The keeper and all of the attempt.
std::vector<pid_t> set_of(const WardenUnderTest& under) {
  std::vector<pid_t> all = processes_with(token_of(under) + "1.");
  const pid_t keeper = parent_of(all.front());
  all.insert(all.begin(), keeper);
  return all;
}

}  // namespace

TEST_CASE("warden: reports that the whole host stood still, and what ran after it is short") {
  WardenUnderTest under("auto", false);
  if (under.welcome().means != Means::PidNamespace) {
    MESSAGE("not run: no pid namespace is to be had");
    return;
  }
  const MonoTime until = BootClock::now() + Millis{2000};
  REQUIRE(under.client().vouch(until));
  under.start(shell(1, "exec sleep 600"));
  REQUIRE(eventually([&] { return processes_with(token_of(under) + "1.").size() == 1; }));
  std::vector<pid_t> host{under.outer_pid(), under.inner_pid(), under.proper_pid()};
  for (const pid_t pid : set_of(under)) host.push_back(pid);
  const testing::StallMeter stalls;
  const MonoTime began = BootClock::now();
  const Ended end = end_across_a_stop(under, until, host);
  CHECK(end.killed_by == KilledBy::Voucher);
  CHECK(end.still == Still::All);
  CHECK(end.still_to - end.still_from >= Millis{500});
  const Micros after = end.ended - end.still_to;
  MESSAGE("ended ", after.count(), " us after the host went on");
  CHECK(after - stalls.within(began, BootClock::now()) < Millis{100});
}

TEST_CASE("warden: a warden that alone stood still does not excuse its jobs") {
  WardenUnderTest under("auto", false);
  if (under.welcome().means != Means::PidNamespace) return;
  const MonoTime until = BootClock::now() + Millis{2000};
  REQUIRE(under.client().vouch(until));
  under.start(shell(1, "exec sleep 600"));
  REQUIRE(eventually([&] { return processes_with(token_of(under) + "1.").size() == 1; }));
  const Ended end = end_across_a_stop(under, until, {under.inner_pid()});
  CHECK(end.still == Still::WardenAlone);
  CHECK(end.killed_by == KilledBy::Voucher);
  CHECK(end.ended - end.still_from < Millis{400});  // its keeper's word, not the warden's look
}

TEST_CASE("warden: an attempt's disconnect grace ends too") {
  WardenUnderTest under("auto");
  warden::Start request = shell(1, "sleep 600");
  request.disconnect_grace = Millis{300};
  under.start(request);
  const testing::StallMeter stalls;
  const MonoTime until = BootClock::now() + Millis{100};
  REQUIRE(under.client().vouch(until));
  under.await_next_life();
  REQUIRE(under.client().list(1));
  const Held held = under.await<Held>(key(1));
  const Ended end = held.end ? *held.end : under.await<Ended>(key(1));
  CHECK(end.killed_by == KilledBy::Voucher);
  CHECK(end.ended - until >= Millis{300});
  CHECK(end.ended - until - stalls.within(until, end.ended) < Millis{1000});
}

TEST_CASE("warden: exits with the proper's 0 after TERM, and ends everything that is left") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    under.start(shell(1, "trap '' TERM; sleep 600"));
    REQUIRE(::kill(under.outer_pid(), SIGTERM) == 0);
    const int status = under.wait_for_end();
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(processes_with(token_of(under)).empty());
  }
}

TEST_CASE("warden: a proper that dies before it has obeyed TERM leaves it to the next life") {
  const auto field_of = [](pid_t pid, const std::string& name) {
    std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status").value_or(""));
    std::string line;
    while (std::getline(status, line) && !line.starts_with(name)) continue;
    return line.substr(std::min(line.size(), name.size()));
  };
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    REQUIRE(under.client().ping());
    under.await_any<warden::Pong>();
    const pid_t first = under.proper_pid();
    REQUIRE(::kill(first, SIGSTOP) == 0);
    REQUIRE(eventually([&] { return field_of(first, "State:").find('T') != std::string::npos; }));
    REQUIRE(::kill(under.outer_pid(), SIGTERM) == 0);
    REQUIRE(eventually([&] {
      return ((std::stoull("0" + field_of(first, "ShdPnd:\t"), nullptr, 16) >> (SIGTERM - 1)) & 1) != 0;
    }));
    under.kill_nine(first);
    under.await_next_life();
    REQUIRE(under.client().ping());  // it is ready to hear it
    const int status = under.wait_for_end();
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("warden: passes USR1 on, and restarts a proper that ends with an error") {
  for (const std::string& means : means_here()) {
    CAPTURE(means);
    WardenUnderTest under(means);
    REQUIRE(under.client().ping());
    under.await_any<warden::Pong>();
    REQUIRE(::kill(under.outer_pid(), SIGUSR1) == 0);  // the double ends with 1
    under.await_next_life();
    CHECK(under.welcome().life == 2);
  }
}

TEST_CASE("warden: two for one state folder: the second is refused, the first untouched") {
  WardenUnderTest under("auto");
  const std::string second = std::string(ROTA_WARDEN) + " --state-dir " + under.state_dir() +
                             "/../" + under.state_dir().substr(5) + " -- /bin/true 2>/dev/null";
  const int status = std::system(second.c_str());
  CHECK(WEXITSTATUS(status) == 2);
  REQUIRE(under.client().ping());
  under.await_any<warden::Pong>();
}

TEST_CASE("warden: a proper that cannot be run, and a wrong command line, end with 2") {
  const std::string program = ROTA_WARDEN;
  for (const char* arguments : {" -- /nowhere/rota-worker", " --means sideways -- /bin/true", " --", "",
                                " --max-attempts 0 -- /bin/true", " --bogus"}) {
    const int status = std::system((program + arguments + " 2>/dev/null").c_str());
    CHECK(WEXITSTATUS(status) == 2);
  }
  CHECK(WEXITSTATUS(std::system((program + " -- /bin/true").c_str())) == 0);
}

TEST_CASE("warden: gives up on a proper that dies at every start") {
  const MonoTime from = BootClock::now();
  CHECK(WEXITSTATUS(std::system((std::string(ROTA_WARDEN) + " -- /bin/false 2>/dev/null").c_str())) == 70);
  CHECK(BootClock::now() - from >= Millis{1000});
}

}  // namespace
}  // namespace rota::test
