// What the kernel's own controllers do to attempts. Each case needs a cgroup of version 2 that hands the
// controller down, prints what it measured, and says so where it was not run; scripts/own_kernel runs them on
// a kernel that has them all.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/file.h"
#include "test/integration/warden/warden_rig.h"
#include "test/support/lone_seconds.h"
#include "test/support/stall_meter.h"
#include "worker/run/limit_rules.h"
#include "worker/run/set_sampler.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/process_scan.h"

namespace rota::test {
namespace {

using warden::Ended;
using warden::KilledBy;
using warden::Start;

constexpr std::int64_t kMib = 1 << 20;

/// ROTA_TEST_CGROUP_DIR names a cgroup without processes of its own; else it is this process's own one.
std::string limits_base() {
  const char* const named = ::getenv("ROTA_TEST_CGROUP_DIR");
  return named != nullptr ? named : "";
}

struct Place {
  warden::KernelLimits holds;
  std::string base;  ///< the folder below which a warden makes its own
};

const Place& place() {
  static const Place found = [] {
    const std::string name = "rota-test-limits-" + std::to_string(::getpid());
    const auto tree = limits_base().empty() ? warden::CgroupTree::open(name)
                                            : warden::CgroupTree::open_below(limits_base(), name);
    if (!tree) return Place{};
    return Place{tree->can_limit(), tree->path().substr(0, tree->path().rfind('/'))};
  }();
  return found;
}

bool is_held(bool by_kernel, const std::string& what) {
  if (!by_kernel) MESSAGE("not run: the kernel holds no limit of " << what << " here");
  return by_kernel;
}

/// The cgroup of an attempt of such a warden, counted from 1.
std::string folder_of(const WardenUnderTest& under, std::int64_t attempt = 1) {
  return place().base + "/" + warden::tree_name(under.state_dir()) + "/" + std::to_string(attempt);
}

/// The number in a file, or behind a word in it; -1: not there.
std::int64_t number_in(const std::string& path, const std::string& name = {}) {
  std::istringstream file(read_file(path).value_or(""));
  std::string word;
  std::int64_t number = -1;
  if (name.empty()) return file >> number ? number : -1;
  while (file >> word >> number) {
    if (word == name) return number;
  }
  return -1;
}

double seconds(Micros time) { return static_cast<double>(time.count()) / 1e6; }

/// What a process of another namespace is called here.
pid_t own_number_of(int pidfd) {
  return static_cast<pid_t>(number_in("/proc/self/fdinfo/" + std::to_string(pidfd), "Pid:"));
}

std::string spinners(int count) {
  return "i=0; while [ $i -lt " + std::to_string(count) +
         " ]; do (while :; do :; done) & i=$((i+1)); done; wait";
}

const std::vector<std::string> kMeans{"auto", "cgroup"};

TEST_CASE("kernel limits: the welcome names the controllers that are passed down") {
  if (!is_held(place().holds.any(), "anything")) return;
  for (const std::string& means : kMeans) {
    WardenUnderTest under(means, true, limits_base());
    CHECK(under.welcome().kernel_limits == place().holds);
    MESSAGE(means << " is " << warden::name_of(under.welcome().means));
  }
}

TEST_CASE("kernel limits: an attempt that uses too much memory is ended completely, and reported as oom_killed") {
  if (!is_held(place().holds.memory, "memory")) return;
  for (const std::string& means : kMeans) {
    CAPTURE(means);
    WardenUnderTest under(means, true, limits_base());
    const std::string name = testing::lone_seconds();
    Start request = shell(1, "(setsid env -i sleep " + name + " >/dev/null 2>&1 &); sleep " + name +
                                 " & " NASTY_JOB " eat_memory 4000 & wait");
    request.most_memory_bytes = 64 * kMib;
    under.start(request);
    const Ended end = under.await<Ended>(key(1));
    CHECK(end.killed_by == KilledBy::Memory);
    CHECK(end.detail.starts_with("oom_killed"));
    CHECK(end.signal == SIGKILL);
    CHECK(end.proven_empty);
    CHECK(processes_with(name).empty());
    CHECK(::access(folder_of(under).c_str(), F_OK) != 0);
    MESSAGE(means << ": memory.max 64 MiB, ended after " << seconds(end.ended - end.started) << " s, "
                  << end.detail);
  }
}

TEST_CASE("kernel limits: memory that the kernel itself needs does not end a small job") {
  if (!is_held(place().holds.memory, "memory")) return;
  for (const std::string& means : kMeans) {
    WardenUnderTest under(means, true, limits_base());
    std::int64_t run = 0;
    for (const std::int64_t mib : {1, 2, 4, 8}) {
      CAPTURE(mib);
      Start request = shell(++run, "for i in 1 2 3; do sleep 0.2 & done; wait; ls / | sort >/dev/null");
      request.most_memory_bytes = worker::run::kernels_bound(mib * kMib);
      REQUIRE(under.client().start(request));
      const Ended end = under.await<Ended>(key(run));
      CHECK(end.exit_status == 0);
      CHECK_MESSAGE(end.killed_by == KilledBy::None, end.detail);
    }
  }
}

TEST_CASE("kernel limits: a fork bomb stays within its number, and dies at once") {
  if (!is_held(place().holds.processes, "processes")) return;
  for (const std::string& means : kMeans) {
    CAPTURE(means);
    WardenUnderTest under(means, true, limits_base());
    Start request = command(1, {NASTY_JOB, "fork_bomb"});
    request.most_processes = 50;
    under.start(request);
    const std::string folder = folder_of(under);
    std::int64_t most = 0;
    REQUIRE(eventually([&] {
      most = std::max(most, number_in(folder + "/pids.current"));
      return number_in(folder + "/pids.events", "max") >= 100;
    }));
    most = std::max(most, number_in(folder + "/pids.current"));
    CHECK(most == 50);
    const std::int64_t refused = number_in(folder + "/pids.events", "max");
    REQUIRE(under.client().kill(key(1), Millis{0}));
    const Ended end = under.await<Ended>(key(1));
    CHECK(end.proven_empty);
    CHECK(processes_with(warden::state_token(under.state_dir()) + ".1.").empty());
    MESSAGE(means << ": pids.max 50, most seen " << most << ", forks refused " << refused
                  << ", empty " << seconds(end.empty_at - end.kill_at) * 1e3 << " ms after KILL");
  }
}

TEST_CASE("kernel limits: a spinning job gets only its share of a core") {
  if (!is_held(place().holds.cpus, "cpus")) return;
  for (const std::string& means : kMeans) {
    for (const std::int32_t milli : {0, 100, 250, 1000}) {
      CAPTURE(means);
      WardenUnderTest under(means, true, limits_base());
      Start request = shell(1, spinners(4));
      request.milli_cpus = milli;
      request.timeout = Millis{6000};
      request.kill_grace = Millis{0};
      REQUIRE(under.client().start(request));
      const Ended end = under.await<Ended>(key(1));
      CHECK(end.killed_by == KilledBy::Timeout);
      CHECK(end.proven_empty);
      const double share = seconds(Micros{end.cpu_us}) / seconds(end.empty_at - end.started);
      // The kernel hands out what is left of a period by pieces of 5 ms for each core.
      if (milli > 0) CHECK(share < milli / 1000.0 * 1.25 + 0.02);
      if (milli > 0) CHECK(share > milli / 1000.0 * (milli < 1000 ? 0.2 : 0.05));  // a busy host gives less
      MESSAGE(means << ": cpus " << milli / 1000.0 << " used " << share);
    }
  }
}

TEST_CASE("kernel limits: a throttled crowd dies as fast as any other") {
  if (!is_held(place().holds.cpus, "cpus")) return;
  for (const std::string& means : kMeans) {
    CAPTURE(means);
    WardenUnderTest under(means, true, limits_base());
    Start request = shell(1, spinners(20));
    request.milli_cpus = 2000;
    under.start(request);
    const std::string folder = folder_of(under);
    REQUIRE(eventually([&] { return number_in(folder + "/pids.current") >= 21; }));
    { std::ofstream(folder + "/cpu.max") << "1000 100000"; }
    const std::int64_t before = number_in(folder + "/cpu.stat", "nr_throttled");
    REQUIRE(eventually([&] { return number_in(folder + "/cpu.stat", "nr_throttled") >= before + 5; }));
    const testing::StallMeter stalls;
    REQUIRE(under.client().kill(key(1), Millis{0}));
    const Ended end = under.await<Ended>(key(1));
    CHECK(end.proven_empty);
    CHECK(end.empty_at - end.kill_at - stalls.within(end.kill_at, end.empty_at) < Millis{3000});
    MESSAGE(means << ": 20 that spin at a hundredth of a core, empty "
                  << seconds(end.empty_at - end.kill_at) * 1e3 << " ms after KILL");
  }
}

TEST_CASE("kernel limits: the sweep ends a throttled crowd that a dead warden left") {
  if (!is_held(place().holds.cpus, "cpus") || !limits_base().empty()) return;
  for (const std::string& means : kMeans) {
    CAPTURE(means);
    WardenUnderTest under(means);
    Start request = shell(1, spinners(20));
    request.milli_cpus = 2000;
    under.start(request);
    const std::string folder = folder_of(under);
    REQUIRE(eventually([&] { return number_in(folder + "/pids.current") >= 21; }));
    { std::ofstream(folder + "/cpu.max") << "1000 100000"; }
    under.kill_nine(under.inner_pid());
    (void)under.wait_for_end();
    const MonoTime from = BootClock::now();
    const std::string sweep = ROTA_WARDEN " --sweep " + under.state_dir() + " >/dev/null";
    CHECK(std::system(sweep.c_str()) == 0);
    CHECK(::access(folder.c_str(), F_OK) != 0);
    MESSAGE(means << ": 20 that spin at a hundredth of a core, swept in "
                  << seconds(BootClock::now() - from) * 1e3 << " ms after their warden's death");
  }
}

TEST_CASE("kernel limits: no share of a core keeps an attempt alive beyond its voucher") {
  if (!is_held(place().holds.cpus, "cpus")) return;
  WardenUnderTest under("auto", false, limits_base());
  if (under.welcome().means != warden::Means::PidNamespace) return;
  MonoTime until{};
  const auto vouch = [&] {
    until = BootClock::now() + Millis{4000};
    REQUIRE(under.client().vouch(until));
    REQUIRE(under.client().ping());
    (void)under.await_any<warden::Pong>();
  };
  vouch();
  Start request = shell(1, spinners(20));
  request.milli_cpus = 2000;
  under.start(request);
  const std::string folder = folder_of(under);
  REQUIRE(eventually([&] {
    vouch();
    return number_in(folder + "/pids.current") >= 21;
  }));
  { std::ofstream(folder + "/cpu.max") << "1000 100000"; }
  vouch();
  const testing::StallMeter stalls;
  REQUIRE(::kill(under.inner_pid(), SIGSTOP) == 0);  // so that the keeper is alone with it
  REQUIRE(eventually([&] { return number_in(folder + "/cgroup.events", "populated") == 0; }));
  const Micros late = BootClock::now() - until, fair = stalls.fair_since(until);
  MESSAGE("20 that spin at a hundredth of a core, warden stopped: gone " << seconds(late) * 1e3
                                                                         << " ms after the voucher's end");
  CHECK(fair < Millis{3000});
  REQUIRE(::kill(under.inner_pid(), SIGCONT) == 0);
  under.await_next_life();
  REQUIRE(under.client().list(1));
  const warden::Held held = under.await<warden::Held>(key(1));
  CHECK((held.end ? *held.end : under.await<Ended>(key(1))).killed_by == KilledBy::Voucher);
}

/// A sampler that ends by the kill ladder each job that passes its limit, as the worker's runner does.
struct Watch {
  explicit Watch(WardenUnderTest& under)
      : sampler([&under](model::AttemptKey key, const worker::run::Excess& excess) {
          (void)under.client().kill({key.run, key.attempt}, excess.is_wild ? Millis{0} : Millis{500}, excess.by);
        }) {
    sampler.start();
  }
  worker::run::SetSampler sampler;
};

/// `peak`: what the kernel counted of all of it together.
Ended watched_end(WardenUnderTest& under, Start request, std::int64_t limit, std::int64_t& peak) {
  Watch watch(under);
  request.most_memory_bytes = worker::run::kernels_bound(limit);
  const warden::Started started = under.start(request);
  model::JobLimits limits;
  limits.memory_bytes = limit;
  const bool is_job = under.welcome().means != warden::Means::PidNamespace;
  watch.sampler.add({request.key.run, request.key.attempt},
                    {own_number_of(started.pidfd.get()), is_job, limits, ""});
  const std::string folder = folder_of(under, request.key.run.value);
  peak = 0;
  REQUIRE(eventually([&] {
    peak = std::max(peak, number_in(folder + "/memory.peak"));
    return ::access(folder.c_str(), F_OK) != 0;
  }));
  return under.await<Ended>(request.key);
}

TEST_CASE("kernel limits: the worker's looks come first, and the kernel's bound holds between two of them") {
  if (!is_held(place().holds.memory, "memory")) return;
  for (const std::string& means : kMeans) {
    CAPTURE(means);
    WardenUnderTest under(means, true, limits_base());
    std::int64_t kept = 0, grabbed = 0;
    const Ended slow =
        watched_end(under, command(1, {NASTY_JOB, "eat_and_keep", "80"}), 64 * kMib, kept);
    CHECK(slow.killed_by == KilledBy::Memory);
    CHECK(slow.detail.empty());  // it stayed below the bound: the looks have seen it
    CHECK(slow.term_sent);
    const Ended fast =
        watched_end(under, shell(2, NASTY_JOB " grab_memory 400 & wait"), 4 * kMib, grabbed);
    CHECK(fast.killed_by == KilledBy::Memory);
    CHECK(grabbed <= worker::run::kernels_bound(4 * kMib));
    CHECK(fast.proven_empty);
    MESSAGE(means << ": limit 64 MiB; 80 MiB kept: ended by the looks after "
                  << seconds(slow.ended - slow.started) << " s at " << kept / kMib
                  << " MiB; limit 4 MiB, 400 at once: ended after " << seconds(fast.ended - fast.started) << " s at "
                  << grabbed / kMib << " MiB by " << (fast.detail.empty() ? "the looks" : fast.detail));
  }
}

}  // namespace
}  // namespace rota::test
