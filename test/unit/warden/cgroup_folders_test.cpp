#include <doctest/doctest.h>

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

}  // namespace
}  // namespace rota::worker::warden
