// The folder log store against its disk: torn tails, flipped bits, a disk that refuses, several lives.
#include "master/store/logs/folder_log_store.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "master/store/logs/log_rules.h"

using namespace rota;
using namespace rota::master::store;

namespace {

const model::AttemptKey kFolderAttempt{RunId{70'000}, 1};

LogChunk folder_chunk(std::int64_t offset, std::string bytes) {
  LogChunk made;
  made.attempt = kFolderAttempt;
  made.offset = offset;
  made.crc32 = crc_of(bytes);
  made.bytes = std::move(bytes);
  made.received = wall_from_ms(1000);
  return made;
}

struct LogFolderSetting {
  LogFolderSetting() {
    char name[] = "/tmp/rota-unit-logs-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~LogFolderSetting() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::unique_ptr<FolderLogStore> master(const std::string& name) {
    FolderLogOptions options;
    options.folder = folder;
    options.writer = name;
    options.settle = Millis{0};
    options.damaged = [this](const std::string&, const LogDamage& one) { damage.push_back(one); };
    auto made = std::make_unique<FolderLogStore>(std::move(options));
    REQUIRE(made->prepare());
    return made;
  }
  std::string only_file() const {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      CHECK(found.empty());
      found = entry.path();
    }
    return found;
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void rewrite(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  std::string folder;
  std::vector<LogDamage> damage;
};

std::string read_all(LogStore& store) {
  const auto read = store.read(kFolderAttempt, LogStream::Out, 0, 1 << 20);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return read->bytes;
}

}  // namespace

TEST_CASE("folder log store: a file that another hand cut short is noticed") {
  LogFolderSetting at;
  const auto one = at.master("one");
  REQUIRE(one->append({folder_chunk(0, "abc")}));
  const auto whole = LogFolderSetting::content(at.only_file()).size();
  REQUIRE(one->append({folder_chunk(3, "def")}));
  CHECK(one->stored_of({kFolderAttempt.run})->at(0).end == 6);
  std::filesystem::resize_file(at.only_file(), whole);
  CHECK(one->stored_of({kFolderAttempt.run})->at(0).end == 3);
  CHECK(one->read(kFolderAttempt, LogStream::Out, 0, 100)->stored_end == 3);
  std::filesystem::remove(at.only_file());
  CHECK(one->stored_of({kFolderAttempt.run})->empty());
}

TEST_CASE("folder log store: a tail torn anywhere is found, named, and stored again by the next life") {
  LogFolderSetting it;
  REQUIRE(it.master("one")->append({folder_chunk(0, "first ")}));
  const std::string path = it.only_file();
  const std::size_t whole = it.content(path).size();
  REQUIRE(it.master("one")->append({folder_chunk(6, "second")}));
  const std::string both = it.content(path);
  for (std::size_t length = whole + 1; length < both.size(); ++length) {
    it.rewrite(path, both.substr(0, length));
    it.damage.clear();
    const auto next = it.master("two");
    CHECK(read_all(*next) == "first ");
    REQUIRE(it.damage.size() == 1);
    CHECK(it.damage[0].is_tail);
    CHECK(it.damage[0].at == static_cast<std::int64_t>(whole));
    CHECK(it.damage[0].bytes == static_cast<std::int64_t>(length - whole));
    CHECK(*next->append({folder_chunk(6, "second")}) == std::vector<std::int64_t>{12});
    CHECK(read_all(*it.master("three")) == "first second");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(it.folder)) {
      if (entry.is_regular_file() && entry.path() != path) std::filesystem::remove(entry.path());
    }
  }
}

TEST_CASE("folder log store: a flipped bit costs its chunk alone, is named, and can be repaired") {
  LogFolderSetting it;
  REQUIRE(it.master("one")->append({folder_chunk(0, "aaa")}));
  const std::string path = it.only_file();
  const std::size_t first = it.content(path).size();
  REQUIRE(it.master("one")->append({folder_chunk(3, "bbb")}));
  const std::size_t second = it.content(path).size();
  REQUIRE(it.master("one")->append({folder_chunk(6, "ccc")}));
  const std::string whole = it.content(path);
  for (std::size_t at = first; at < second; ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    it.rewrite(path, flipped);
    it.damage.clear();
    const auto next = it.master("two");
    const auto read = next->read(kFolderAttempt, LogStream::Out, 0, 100);
    REQUIRE(read);
    CHECK(read->bytes == "aaa");
    CHECK(read->gap);
    CHECK(read->stored_end == 3);
    REQUIRE(it.damage.size() == 1);
    CHECK_FALSE(it.damage[0].is_tail);
    CHECK(it.damage[0].bytes == static_cast<std::int64_t>(second - first));
    CHECK(*next->append({folder_chunk(3, "bbb")}) == std::vector<std::int64_t>{9});
    CHECK(read_all(*it.master("three")) == "aaabbbccc");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(it.folder)) {
      if (entry.is_regular_file() && entry.path() != path) std::filesystem::remove(entry.path());
    }
  }
}

TEST_CASE("folder log store: bytes that rot after they were seen are a hole, never handed out") {
  LogFolderSetting it;
  const auto master = it.master("one");
  REQUIRE(master->append({folder_chunk(0, "abcdef")}));
  CHECK(read_all(*master) == "abcdef");
  std::string text = it.content(it.only_file());
  text.back() = 'X';
  it.rewrite(it.only_file(), text);
  CHECK(read_all(*master) == "");
  CHECK(it.damage.size() == 1);
}

TEST_CASE("folder log store: a disk error is reported, and nothing half-written counts") {
  LogFolderSetting it;
  const auto master = it.master("one");
  
  std::string noise;
  std::uint32_t seed = 3;
  while (noise.size() < 60'000) {
    seed = seed * 1'664'525 + 1'013'904'223;
    noise += static_cast<char>(seed >> 24);
  }
  REQUIRE(master->append({folder_chunk(0, "start")}));
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = 20'000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const auto refused = master->append({folder_chunk(5, noise)});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, old_action);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Unavailable);
  CHECK(read_all(*master) == "start");
  CHECK(read_all(*it.master("two")) == "start");
  CHECK(it.damage.empty());
  REQUIRE(master->append({folder_chunk(5, noise)}));
  CHECK(read_all(*it.master("three")) == "start" + noise);
}

TEST_CASE("folder log store: where the folder has gone nothing is made beneath") {
  LogFolderSetting it;
  const auto master = it.master("one");
  std::filesystem::remove_all(it.folder);
  CHECK(master->append({folder_chunk(0, "abc")}).error().code == ErrorCode::Unavailable);
  CHECK_FALSE(std::filesystem::exists(it.folder));
}

TEST_CASE("folder log store: a call that touches many streams stores them all") {
  LogFolderSetting it;
  std::vector<LogChunk> chunks;
  for (std::int64_t run = 1; run <= 300; ++run) {
    chunks.push_back(folder_chunk(0, "run " + std::to_string(run)));
    chunks.back().attempt.run = RunId{run * 500};
  }
  REQUIRE(it.master("one")->append(chunks));
  const auto other = it.master("two");
  CHECK(other->runs_with_logs(RunId{0}, 1000)->size() == 300);
  CHECK(other->read({RunId{150'000}, 1}, LogStream::Out, 0, 100)->bytes == "run 300");
}
