#include "worker/run/folder_removal.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/unique_fd.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::run {

TEST_CASE("folder_removal: removes 3,000 levels, a folder without permissions, and follows no link") {
  const testing::TemporaryFolder temporary;
  const std::string outside = temporary.path() + "/outside", folder = temporary.path() + "/job";
  std::filesystem::create_directories(outside);
  std::ofstream(outside + "/precious") << "kept";
  std::filesystem::create_directories(folder + "/closed/inner");
  std::ofstream(folder + "/closed/inner/file") << "x";
  std::filesystem::create_directory_symlink(outside, folder + "/link");
  std::filesystem::create_directory_symlink("/", folder + "/closed/root");
  UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < 3000; ++level) {
    REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
    at.reset(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  at.reset();
  ::chmod((folder + "/closed/inner").c_str(), 0);
  ::chmod((folder + "/closed").c_str(), 0);
  const auto removed = remove_folder(folder);
  CHECK_MESSAGE(removed.has_value(), (removed ? "" : removed.error().message));
  CHECK_FALSE(std::filesystem::exists(folder));
  CHECK(std::filesystem::exists(outside + "/precious"));
  CHECK(remove_folder(folder).has_value());
}

namespace {
bool lock(const std::string& path, int flag) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int flags = 0;
  if (::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
  flags |= flag;
  return ::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) == 0;
}
}  // namespace

TEST_CASE("folder_removal: what root made unchangeable goes too") {
  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path() + "/job";
  std::filesystem::create_directories(folder + "/a/b");
  std::ofstream(folder + "/a/b/file") << "x";
  std::ofstream(folder + "/log") << "x";
  if (!lock(folder + "/log", FS_APPEND_FL)) {
    MESSAGE("not run: neither this user nor this disk knows such files");
    return;
  }
  for (const char* path : {"/a/b/file", "/a/b", "/a", ""}) REQUIRE(lock(folder + path, FS_IMMUTABLE_FL));
  const auto removed = remove_folder(folder);
  CHECK_MESSAGE(removed.has_value(), (removed ? "" : removed.error().message));
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("folder_removal: a link in the folder's place is removed, and not what it points to") {
  const testing::TemporaryFolder temporary;
  std::ofstream(temporary.path() + "/precious") << "kept";
  std::filesystem::create_directory_symlink(temporary.path(), temporary.path() + "/job");
  CHECK(remove_folder(temporary.path() + "/job").has_value());
  CHECK(std::filesystem::exists(temporary.path() + "/precious"));
}

}  // namespace rota::worker::run
