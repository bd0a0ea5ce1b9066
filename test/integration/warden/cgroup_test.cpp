// A kernel's own cgroups, without a warden.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include <doctest/doctest.h>

#include "test/integration/warden/warden_rig.h"
#include "test/support/lone_seconds.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/process_start.h"

namespace rota::test {
namespace {

/// Shells that leave session and parent, in a cgroup of their own.
warden::StartedProcess crowd_in(const warden::Cgroup& group, const std::string& name) {
  warden::ProcessPlan plan;
  plan.argv = {"/bin/sh", "-c",
               "for i in 1 2 3 4 5 6 7 8; do (setsid /bin/sleep " + name + " &); done; exec sleep " + name};
  plan.environment = {"PATH=/bin:/usr/bin"};
  plan.cgroup_fd = group.fd();
  return warden::start_process(plan);
}

TEST_CASE("cgroup: everything that a child started is killed at once, or one by one, and seen gone") {
  if (!has_cgroups()) return;
  bool one_by_one = false;
  SUBCASE("at once") {}
  SUBCASE("one by one") { one_by_one = true; }
  const std::string name = testing::lone_seconds();
  auto tree = warden::CgroupTree::open("rota-test-kill-" + std::to_string(::getpid()));
  REQUIRE(tree);
  auto group = tree->make("1");
  REQUIRE(group);
  CHECK(group->is_empty());
  const warden::StartedProcess crowd = crowd_in(*group, name);
  REQUIRE(crowd.pid > 0);
  REQUIRE(eventually([&] { return processes_with(name).size() >= 9; }));
  CHECK_FALSE(group->is_empty());
  CHECK_FALSE(group->remove());
  group = tree->make("2");  // a folder that was opened again: the first one stays as it is
  REQUIRE(group);
  warden::Cgroup first(tree->path() + "/1", UniqueFd{});
  CHECK(group->is_empty());
  first.kill(one_by_one);
  ::waitpid(crowd.pid, nullptr, 0);
  CHECK(eventually([&] { return first.is_empty(); }));
  CHECK(processes_with(name).empty());
  CHECK(first.cpu_us().value_or(0) > 0);
  CHECK(first.remove());
  CHECK(group->remove());
}

TEST_CASE("cgroup: folders that a job makes below its own are killed and removed with it") {
  if (!has_cgroups()) return;
  auto tree = warden::CgroupTree::open("rota-test-nest-" + std::to_string(::getpid()));
  REQUIRE(tree);
  auto group = tree->make("1");
  REQUIRE(group);
  const std::string nest = group->path() + "/nest";
  REQUIRE(::mkdir(nest.c_str(), 0755) == 0);
  REQUIRE(::mkdir((nest + "/deep").c_str(), 0755) == 0);
  warden::Cgroup deep(nest + "/deep", UniqueFd(::open((nest + "/deep").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  const std::string name = testing::lone_seconds();
  const warden::StartedProcess crowd = crowd_in(deep, name);
  REQUIRE(crowd.pid > 0);
  CHECK_FALSE(group->is_empty());
  group->signal_all(SIGTERM);
  ::waitpid(crowd.pid, nullptr, 0);
  group->kill();
  CHECK(eventually([&] { return group->is_empty(); }));
  CHECK(group->remove());
}

TEST_CASE("cgroup: a start that fails in a cgroup is reported with its step") {
  if (!has_cgroups()) return;
  auto tree = warden::CgroupTree::open("rota-test-fail-" + std::to_string(::getpid()));
  REQUIRE(tree);
  auto group = tree->make("1");
  REQUIRE(group);
  warden::ProcessPlan plan;
  plan.argv = {"/nowhere/tool"};
  plan.cgroup_fd = group->fd();
  const warden::StartedProcess none = warden::start_process(plan);
  CHECK(none.pid == -1);
  CHECK(none.failed_step == warden::StartStep::Exec);
  CHECK(none.error == ENOENT);
  CHECK(group->is_empty());
  CHECK(group->remove());
}

TEST_CASE("cgroup: beside a pid namespace an attempt with limits is born into one, others are not") {
  if (!has_cgroups()) return;
  std::string base;
  {
    const auto tree = warden::CgroupTree::open("rota-test-base-" + std::to_string(::getpid()));
    REQUIRE(tree);
    base = tree->path().substr(0, tree->path().rfind('/'));
  }
  WardenUnderTest under("auto", true, base);
  if (under.welcome().means != warden::Means::PidNamespace) return;
  const std::string name = warden::tree_name(under.state_dir());
  warden::Start limited = shell(1, "(setsid cat /proc/self/cgroup); sleep 600");
  limited.most_memory_bytes = 1 << 30;
  const warden::Started started = under.start(limited);
  std::string line(2000, '\0');
  ssize_t got = 0;
  REQUIRE(eventually([&] { return (got = ::read(started.out.get(), line.data(), line.size())) > 0; }));
  CHECK_MESSAGE(line.find(name + "/1\n") != std::string::npos, line);
  REQUIRE(under.client().kill(key(1), Millis{0}));
  CHECK(under.await<warden::Ended>(key(1)).proven_empty);
  CHECK(::access((base + "/" + name + "/1").c_str(), F_OK) != 0);
  CHECK(read_all(under.start(shell(2, "cat /proc/self/cgroup")).out.get()).find(name) == std::string::npos);
}

TEST_CASE("cgroup: a folder that is named for them and cannot be used is complained of") {
  const std::string line = std::string(ROTA_WARDEN) + " --cgroup-dir /nowhere -- /bin/true 2>&1";
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char text[2000] = {};
  const std::size_t got = std::fread(text, 1, sizeof text, pipe);
  CHECK(::pclose(pipe) == 0);
  CHECK_MESSAGE(std::string(text, got).find("cgroup_dir cannot be used: cannot make /nowhere/") != std::string::npos,
                std::string(text, got));
}

}  // namespace
}  // namespace rota::test
