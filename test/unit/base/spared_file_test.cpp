#include "common/base/spared_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/file.h"
#include "test/support/small_disk.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota {

namespace {

/// What a reader takes for the content: all but the blanks at the end.
std::string content_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? text->substr(0, text->find_last_not_of(" \n") + 1) : "none: " + text.error().message;
}

void overwrite(const std::string& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::pwrite(fd.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}

/// Contents as long as their number, so that a mixture of two is seen.
std::string numbered(int number) {
  return "begin " + std::to_string(number) + std::string(static_cast<std::size_t>(number * 37 % 3000), 'x') + " end";
}

bool is_numbered(const std::string& content) {
  return content.starts_with("begin ") && content == numbered(std::atoi(content.c_str() + 6));
}

}  // namespace

TEST_CASE("spared file: reads back what was written, of any length") {
  const testing::TemporaryFolder folder;
  const SparedFile file(folder.path() + "/kept", 0600);
  for (const std::size_t length : {1u, 40u, 4095u, 4096u, 5000u, 7u}) {
    const std::string content(length, 'c');
    REQUIRE(file.write(content));
    CHECK(content_of(file.path()) == content);
    CHECK(status_of(file.path()).st_size > static_cast<off_t>(length));  // a blank at least ends it
  }
  CHECK((status_of(file.path()).st_mode & 0777) == 0600);
  CHECK((status_of(file.path() + ".spare").st_mode & 0777) == 0600);
}

TEST_CASE("spared file: whatever a crash left in the spare, the file is intact and the next write works") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/kept", spare = path + ".spare", torn = "a content cut off by a crash";
  const SparedFile file(path);
  REQUIRE(file.write("first"));
  for (std::size_t length = 0; length <= torn.size(); ++length) {
    CAPTURE(length);
    const std::string before = content_of(path);
    overwrite(spare, torn.substr(0, length));
    CHECK(content_of(path) == before);
    REQUIRE(SparedFile(path).write("after " + std::to_string(length)));
    CHECK(content_of(path) == "after " + std::to_string(length));
  }
  for (const off_t size : {off_t{0}, off_t{1}, off_t{4095}, off_t{100'000}}) {
    REQUIRE(::truncate(spare.c_str(), size) == 0);
    REQUIRE(file.write("size " + std::to_string(size)));
    CHECK(content_of(path) == "size " + std::to_string(size));
    CHECK(status_of(path).st_size == static_cast<off_t>(SparedFile::kRoomBytes));
  }
  REQUIRE(::unlink(spare.c_str()) == 0);
  REQUIRE(file.write("without a spare"));
  CHECK(content_of(path) == "without a spare");
  CHECK(status_of(spare).st_size == static_cast<off_t>(SparedFile::kRoomBytes));
}

TEST_CASE("spared file: a writer killed at any moment leaves one whole content, and never an older one") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/kept";
  int last = 0;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t writer = ::fork();
    if (writer == 0) {
      const SparedFile file(path);
      for (int number = last + 1; file.write(numbered(number)); ++number) {
        if (::write(ends[1], "w", 1) != 1) break;
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    char byte = 0;
    int told = 0;
    while (told < 1 + round % 5 && ::read(ends[0], &byte, 1) == 1) ++told;
    ::kill(writer, SIGKILL);
    while (::read(ends[0], &byte, 1) == 1) ++told;
    ::close(ends[0]);
    REQUIRE(::waitpid(writer, nullptr, 0) == writer);
    const std::string content = content_of(path);
    REQUIRE(is_numbered(content));
    const int number = std::atoi(content.c_str() + 6);
    CHECK(number >= last + told);
    CHECK(number <= last + told + 1);
    last = number;
  }
}

TEST_CASE("spared file: an older version without spares reads it, and replaces it in its own way") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/kept";
  REQUIRE(write_file_synced(path, "of the old version\n", 0600));
  const SparedFile file(path, 0600);
  file.make_room();
  CHECK(content_of(path) == "of the old version");
  CHECK(status_of(path).st_size == static_cast<off_t>(SparedFile::kRoomBytes));
  for (int round = 0; round < 3; ++round) {
    REQUIRE(file.write("of the new one"));
    CHECK(content_of(path) == "of the new one");
    REQUIRE(write_file_synced(path, "of the old version\n", 0600));
    CHECK(read_file(path).value() == "of the old version\n");
  }
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(file.write("after its removal"));
  CHECK(content_of(path) == "after its removal");
}

TEST_CASE("spared file: is replaced even while another writer holds the spare") {
  const testing::TemporaryFolder folder;
  const SparedFile file(folder.path() + "/kept");
  REQUIRE(file.write("first"));
  const std::string spare = file.path() + ".spare";
  const UniqueFd other(::open(spare.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  overwrite(spare, "half of another cont");
  REQUIRE(file.write("second"));
  CHECK(content_of(file.path()) == "second");
  CHECK(content_of(spare).starts_with("half of another cont"));
}

TEST_CASE("spared file: a failed write gives an error with the path") {
  const auto refused = SparedFile("/nonexistent/folder/kept").write("x");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("/nonexistent/folder") != std::string::npos);
}

TEST_CASE("spared file: works without a spare that cannot be opened (another user's)") {
  const testing::TemporaryFolder folder;
  const SparedFile file(folder.path() + "/kept");
  REQUIRE(file.write("first"));
  REQUIRE(::unlink((file.path() + ".spare").c_str()) == 0);
  REQUIRE(::mkdir((file.path() + ".spare").c_str(), 0700) == 0);
  CHECK(file.write("second"));
  CHECK(content_of(file.path()) == "second");
}

TEST_CASE("spared file: on a full disk it can be replaced, removed and created again any number of times") {
  for (const auto kind : {testing::DiskKind::Memory, testing::DiskKind::Ext4}) {
    const testing::TemporaryFolder folder;
    testing::on_small_disk(folder.path(), kind, 8, [&] {
      const SparedFile file(folder.path() + "/kept", 0600), late(folder.path() + "/late");
      file.make_room();
      REQUIRE(file.write("while there was room"));
      testing::fill_disk(folder.path());
      CHECK_FALSE(write_file_synced(folder.path() + "/plain", "x"));
      CHECK_FALSE(read_file(folder.path() + "/plain"));
      CHECK(names_in(folder.path()).value().size() <= 4);  // the failed try leaves nothing
      CHECK_FALSE(late.write("no room was kept for it"));
      int written = 0;
      while (written < 100 && file.write(numbered(written))) ++written;
      CHECK(written == 100);
      CHECK(content_of(file.path()) == numbered(99));
      CHECK_FALSE(file.write(std::string(64 << 10, 'y')));
      CHECK(content_of(file.path()) == numbered(99));
      for (int round = 0; round < 3; ++round) {
        REQUIRE(file.remove());
        CHECK_FALSE(read_file(file.path()));
        REQUIRE(file.remove());
        REQUIRE(file.write(numbered(round)));
        REQUIRE(file.write(numbered(round + 1)));
        CHECK(content_of(file.path()) == numbered(round + 1));
      }
    });
  }
}

}  // namespace rota
