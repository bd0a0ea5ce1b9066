// The means by which attempts are held, on a real worker: what nests, hides and multiplies dies under each.
#include <doctest/doctest.h>
#include <unistd.h>

#include "common/base/file.h"
#include "test/integration/worker/worker_rig.h"
#include "test/support/lone_seconds.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/process_scan.h"

namespace rota::testing {

namespace {

/// The means that can be had here.
std::vector<std::string> containments() {
  std::vector<std::string> all{"auto", "scan"};
  const std::string name = "rota-test-" + std::to_string(::getpid());
  if (worker::warden::CgroupTree::open(name)) all.emplace_back("cgroup");
  return all;
}

std::vector<std::string> sh(const std::string& text) { return {"/bin/sh", "-c", text}; }

/// Living processes with that text in their command line.
std::size_t living_with(const std::string& text) {
  std::size_t count = 0;
  for (const auto& process : worker::warden::list_processes()) {
    const auto line = read_file("/proc/" + std::to_string(process.identity.pid) + "/cmdline");
    if (!process.is_dead && line && line->find(text) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("containment: under each available means, nothing of a job is left") {
  for (const std::string& means : containments()) {
    CAPTURE(means);
    FakeMaster master;
    WorkerUnderTest worker({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = "containment: " + means + "\n"});
    worker.start();
    REQUIRE_MESSAGE(!worker.join(master).incarnation.empty(), worker.log_text());
    const std::string shown = worker.nodes().at(0).kill_means;
    MESSAGE("containment ", means, " is shown as ", shown);
    if (means != "auto") CHECK(shown == means);
    const std::string name = lone_seconds();
    const std::string sleeper = "/bin/sleep " + name + " >/dev/null 2>&1 </dev/null &";
    // Its own session, no environment, no pipes, an orphan.
    REQUIRE(worker.dispatch(WorkerUnderTest::command(
                300, sh("(setsid env -i /bin/sh -c '(setsid " + sleeper + ")' &); sleep 0.1; exit 4"))) == "none");
    CHECK(master.outcome(300).exit_status == 4);
    // It multiplies until it is killed.
    REQUIRE(worker.dispatch(WorkerUnderTest::command(
                301, sh("trap '' TERM; i=0; while [ $i -lt 200 ]; do (setsid " + sleeper +
                        "); i=$((i+1)); done; echo up; wait; sleep 600"))) == "none");
    REQUIRE(master.wait_log(301, 1, "up"));
    CHECK(eventually([&] { return living_with(name) >= 200; }));
    worker.cancel(301, Millis{50});
    CHECK(master.outcome(301).state == "killed");
    CHECK(living_with(name) == 0);
    CHECK(worker.dispatch(WorkerUnderTest::command(302, {"true"})) == "none");
    CHECK(master.outcome(302).state == "succeeded");
  }
}

}  // namespace rota::testing
