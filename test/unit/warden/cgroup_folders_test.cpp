#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/unit/worker/temporary_folder.h"
#include "worker/warden/cgroup_tree.h"

namespace rota::worker::warden {
namespace {

using Folders = std::vector<std::string>;

const std::string kUnified = "24 18 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
const std::string kHybrid =
    "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 30 0:28 / /sys/fs/cgroup/unified rw shared:9 master:2 - cgroup2 cgroup2 rw\n";

TEST_CASE("cgroup folders: the own cgroup below where version 2 is mounted") {
  CHECK(cgroup_folders(kUnified, "0::/system.slice/rota-worker.service\n") ==
        Folders{"/sys/fs/cgroup/system.slice/rota-worker.service"});
  CHECK(cgroup_folders(kHybrid, "4:memory:/x\n0::/\n") == Folders{"/sys/fs/cgroup/unified"});
}

TEST_CASE("cgroup folders: a mount of a part shows what is below that part") {
  const std::string part = "24 18 0:22 /docker/7f /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  CHECK(cgroup_folders(part, "0::/docker/7f\n") == Folders{"/sys/fs/cgroup"});
  CHECK(cgroup_folders(part, "0::/docker/7f/job\n") == Folders{"/sys/fs/cgroup/job"});
  CHECK(cgroup_folders(part, "0::/docker/7fff\n").empty());
  CHECK(cgroup_folders(part, "0::/\n").empty());
}

TEST_CASE("cgroup folders: none without version 2, or where the own one lies outside of what is seen") {
  CHECK(cgroup_folders(kHybrid, "4:memory:/x\n").empty());
  CHECK(cgroup_folders("31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "0::/\n").empty());
  CHECK(cgroup_folders(kUnified, "0::/../other\n").empty());
  CHECK(cgroup_folders("", "").empty());
}

TEST_CASE("cgroup tree: a folder that is no cgroup is refused, and left as it was") {
  const auto tree = CgroupTree::open_below("/tmp", "rota-no-cgroup");
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().message.find("/tmp/rota-no-cgroup") != std::string::npos);
  CHECK_FALSE(CgroupTree::open_below("/nowhere", "rota-no-cgroup").has_value());
}

/// A folder with the files of a cgroup, as the kernel would make them.
struct CgroupLookalike {
  const testing::TemporaryFolder folder;
  const std::string& path = folder.path();
  void put(const std::string& name, const std::string& text) const { std::ofstream(path + "/" + name) << text; }
  std::string text(const std::string& name) const {
    std::ifstream file(path + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
};

TEST_CASE("cgroup limits: are written where the controller is, and left alone where not") {
  const CgroupLookalike group;
  for (const char* name : {"memory.max", "memory.oom.group", "memory.swap.max"}) group.put(name, "");
  CHECK(hold_to(group.path, {1 << 20, 40}));
  CHECK(group.text("memory.max") == "1048576");
  CHECK(group.text("memory.oom.group") == "1");
  CHECK(group.text("memory.swap.max") == "0");
  CHECK_FALSE(std::filesystem::exists(group.path + "/pids.max"));
  group.put("pids.max", "");
  CHECK(hold_to(group.path, {0, 40}));
  CHECK(group.text("pids.max") == "40");
  CHECK(hold_to(group.path, {0, 0, 250}));
  CHECK_FALSE(std::filesystem::exists(group.path + "/cpu.max"));
  group.put("cpu.max", "max 100000\n");
  CHECK(hold_to(group.path, {0, 0, 250}));
  CHECK(group.text("cpu.max") == "25000 100000");
  CHECK(hold_to(group.path, {0, 0, 1'000'000}));
  CHECK(group.text("cpu.max") == "100000000 100000");
}

TEST_CASE("cgroup limits: no share of a core delays processes that must end") {
  const CgroupLookalike group;
  const Cgroup cgroup(group.path, UniqueFd{});
  cgroup.unthrottle();
  CHECK_FALSE(std::filesystem::exists(group.path + "/cpu.max"));
  std::filesystem::create_directory(group.path + "/nest");
  for (const char* name : {"cpu.max", "nest/cpu.max", "cgroup.kill"}) group.put(name, "");
  cgroup.kill();
  CHECK(group.text("cpu.max") == "max");
  CHECK(group.text("nest/cpu.max") == "max");
  CHECK(group.text("cgroup.kill") == "1");
}

TEST_CASE("cgroup limits: the kernel's own count says that memory ended an attempt") {
  const CgroupLookalike group;
  const Cgroup cgroup(group.path, UniqueFd{});
  CHECK_FALSE(cgroup.had_oom_kill());
  group.put("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n");
  CHECK_FALSE(cgroup.had_oom_kill());
  group.put("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n");
  CHECK(cgroup.had_oom_kill());
}

}  // namespace
}  // namespace rota::worker::warden
