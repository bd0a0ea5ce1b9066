// What a process writes down of itself, on a disk that is full.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/base/folder_lock.h"
#include "common/base/heartbeat_file.h"
#include "test/support/small_disk.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota {

namespace {

/// So that any new time differs.
void make_old(const std::string& path) {
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0) == 0);
}

time_t written_at(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mtim.tv_sec;
}

}  // namespace

TEST_CASE("folder lock: names its holder, also after a longer pid in the file") {
  const testing::TemporaryFolder folder;
  REQUIRE(write_file_synced(folder.path() + "/lock", "12345678901234\n"));
  const auto held = FolderLock::take(folder.path());
  REQUIRE(held);
  CHECK(read_file(folder.path() + "/lock").value() == std::to_string(::getpid()) + "\n");
  const auto refused = FolderLock::take(folder.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("by process " + std::to_string(::getpid()) + ";") != std::string::npos);
}

TEST_CASE("folder lock: works on a full disk") {
  const testing::TemporaryFolder folder;
  testing::on_small_disk(folder.path(), testing::DiskKind::Ext4, 8, [&] {
    { REQUIRE(FolderLock::take(folder.path())); }
    testing::fill_disk(folder.path());
    CHECK(FolderLock::take(folder.path()));
    REQUIRE(::truncate((folder.path() + "/lock").c_str(), 0) == 0);
    testing::fill_disk(folder.path());  // the block that it had, too
    CHECK(FolderLock::take(folder.path()));
  });
}

TEST_CASE("heartbeat: beats on a full disk, with its word if the file had one before") {
  const testing::TemporaryFolder folder;
  testing::on_small_disk(folder.path(), testing::DiskKind::Ext4, 8, [&] {
    const std::string path = folder.path() + "/heartbeat", late = folder.path() + "/late";
    HeartbeatFile heartbeat(path), without_room(late);
    MonoTime now = MonoTime{} + Millis{10'000};
    heartbeat.beat("waiting for the store", now);
    REQUIRE(write_file_synced(late, ""));
    testing::fill_disk(folder.path());
    make_old(path);
    heartbeat.beat("turning", now += Millis{1000});
    CHECK(written_at(path) > 1);
    CHECK(read_file(path).value() == "turning\n");
    make_old(late);
    without_room.beat("turning", now);
    CHECK(written_at(late) > 1);
    make_old(late);
    without_room.beat("turning", now + Millis{100});
    CHECK(written_at(late) == 1);  // it is not tried at every turn of a loop
  });
}

}  // namespace rota
