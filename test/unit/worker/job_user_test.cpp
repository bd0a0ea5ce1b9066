#include "worker/run/job_user.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "test/unit/worker/temporary_folder.h"
#include "worker/run/folder_pool.h"

namespace rota::worker::run {

namespace {

constexpr uid_t kSomebody = 65'534;

/// A host whose table of users the test changes.
struct JobUserRig {
  FakeClock clock;
  std::uint32_t uid = 0;               // 0: nobody of that name
  int look_ups = 0;
  JobUsers users{{"ann", "bob"}, clock, [this](const std::string& name) -> Result<JobUser> {
                   ++look_ups;
                   if (uid == 0) return fail(ErrorCode::NotFound, "no " + name);
                   return JobUser{{uid, 5, {}}, "/home/" + name};
                 }};

  std::uint32_t uid_of(const std::string& name) {
    const auto found = users.find(name);
    return found ? found->ids.uid : 0;
  }
};

}  // namespace

TEST_CASE("job users: a user is looked up once, and a change of the host's table is seen 2 s later") {
  JobUserRig rig;
  rig.uid = 7;
  CHECK(rig.uid_of("ann") == 7);
  CHECK(rig.uid_of("ann") == 7);
  CHECK(rig.look_ups == 1);
  rig.uid = 8;
  rig.clock.advance(Millis{1999});
  CHECK(rig.uid_of("ann") == 7);
  rig.clock.advance(Millis{1});
  CHECK(rig.uid_of("ann") == 8);
  rig.uid = 0;  // removed from the host
  rig.clock.advance(Millis{2000});
  CHECK(rig.uid_of("ann") == 0);
  CHECK(rig.look_ups == 3);
}

TEST_CASE("job users: one whom the host does not know is looked up each time") {
  JobUserRig rig;
  CHECK(rig.users.find("ann").error().code == ErrorCode::NotFound);
  rig.uid = 7;
  CHECK(rig.uid_of("ann") == 7);
}

TEST_CASE("job users: each has an entry of his own") {
  JobUserRig rig;
  rig.uid = 7;
  CHECK(rig.uid_of("ann") == 7);
  rig.uid = 8;
  CHECK(rig.uid_of("bob") == 8);
  CHECK(rig.uid_of("ann") == 7);
}

TEST_CASE("job users: nobody is looked up who is not allowed") {
  JobUserRig rig;
  rig.uid = 7;
  CHECK(rig.users.find("root").error().code == ErrorCode::Denied);
  CHECK(rig.look_ups == 0);
}

TEST_CASE("folder pool: an empty folder is given again to its owner, and to nobody else") {
  if (::geteuid() != 0) return;  // only root can give a folder away
  const testing::TemporaryFolder folder;
  FolderPool pool(folder.path() + "/work");
  REQUIRE(pool.start());
  const std::string first = pool.acquire(kSomebody).value_or("none");
  REQUIRE(::chown(first.c_str(), kSomebody, kSomebody) == 0);
  pool.release(first);
  CHECK(pool.acquire(::geteuid()).value_or(first) != first);
  CHECK(pool.acquire(kSomebody + 1).value_or(first) != first);
  CHECK(pool.acquire(kSomebody).value_or("none") == first);
}

TEST_CASE("folder pool: a folder in which something was left, or that others may enter, is not given again") {
  const testing::TemporaryFolder folder;
  FolderPool pool(folder.path() + "/work");
  REQUIRE(pool.start());
  const std::string first = pool.acquire(::geteuid()).value_or("none");
  SUBCASE("a file") { std::ofstream(first + "/file") << "left"; }
  SUBCASE("rights") { REQUIRE(::chmod(first.c_str(), 0711) == 0); }
  pool.release(first);
  CHECK(pool.acquire(::geteuid()).value_or(first) != first);
}

}  // namespace rota::worker::run
