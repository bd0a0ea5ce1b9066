#include "worker/run/folder_walk.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::run {

namespace {

constexpr std::int64_t kBig = 256 << 10;

void put_big(int folder, const char* name) {
  const UniqueFd file(::openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string bytes(kBig, 'x');
  REQUIRE(::write(file.get(), bytes.data(), bytes.size()) == kBig);
}

/// `levels` folders within each other; the deepest.
UniqueFd dig(const std::string& folder, int levels) {
  UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < levels; ++level) {
    REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
    at.reset(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  return at;
}

/// What a whole pass in steps of so many entries sees, and in how many steps.
std::pair<std::int64_t, int> walk_all(const std::string& folder, int entries) {
  FolderWalk walk(folder);
  int steps = 1;
  while (!walk.go_on(entries)) ++steps;
  return {walk.bytes(), steps};
}

void put_big_beside(const std::string& folder) {
  for (int i = 0; i < 10; ++i) {
    const std::string side = folder + "/side" + std::to_string(i);
    std::filesystem::create_directories(side);
    put_big(UniqueFd(::open(side.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)).get(), "big");
  }
}

}  // namespace

TEST_CASE("folder_walk: sees what lies 2,000 levels down, and what lies beside the way there") {
  const testing::TemporaryFolder temporary;
  const UniqueFd deepest = dig(temporary.path(), 2000);
  const std::int64_t before = walk_all(temporary.path(), 1'000'000).first;
  put_big(deepest.get(), "deep");
  std::string path = temporary.path();
  for (int level = 0; level < 30; ++level) {
    path += "/d";
    if (level == 2 || level == 20) put_big_beside(path);
  }
  CHECK(walk_all(temporary.path(), 1'000'000).first >= before + 21 * kBig);
}

TEST_CASE("folder_walk: goes in steps, and sees the same") {
  const testing::TemporaryFolder temporary;
  for (int i = 0; i < 500; ++i) std::ofstream(temporary.path() + "/" + std::to_string(i)) << "some bytes";
  const auto [bytes, steps] = walk_all(temporary.path(), 100);
  CHECK(steps >= 5);
  CHECK(bytes == walk_all(temporary.path(), 1'000'000).first);
}

TEST_CASE("folder_walk: a folder that moves away while it is looked at hides nothing of what is above it") {
  const testing::TemporaryFolder temporary;
  put_big_beside(temporary.path());
  const auto side = [&](int i) { return temporary.path() + "/side" + std::to_string(i); };
  std::string inner;
  for (int level = 0; level < 15; ++level) inner += "/d";
  for (int i = 0; i < 10; ++i) dig(side(i), 30);
  FolderWalk walk(temporary.path());
  while (walk.bytes() < kBig) REQUIRE_FALSE(walk.go_on(1));
  for (int step = 0; step < 120; ++step) REQUIRE_FALSE(walk.go_on(1));  // some 24 levels down in the first side
  for (int i = 0; i < 10; ++i) std::filesystem::rename(side(i) + inner, side(i) + "/moved");
  while (!walk.go_on(1)) continue;
  CHECK(walk.bytes() >= 10 * kBig);
}

TEST_CASE("folder_walk: follows no link") {
  const testing::TemporaryFolder temporary, elsewhere;
  put_big(UniqueFd(::open(elsewhere.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)).get(), "foreign");
  std::filesystem::create_directory_symlink(elsewhere.path(), temporary.path() + "/link");
  CHECK(walk_all(temporary.path(), 10).first < kBig);
}

TEST_CASE("folder_walk: a folder that is not there is empty") {
  CHECK(walk_all("/nonexistent/folder", 10) == std::pair<std::int64_t, int>{0, 1});
}

}  // namespace rota::worker::run
