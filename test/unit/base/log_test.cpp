// The log's sinks, on files in the test's own folder.
#include "common/base/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/unique_fd.h"

using namespace rota;
namespace fs = std::filesystem;

namespace {

/// A folder that goes with the test, and a log that is stopped before it does.
class LogFolder {
 public:
  LogFolder() {
    std::string pattern = (fs::temp_directory_path() / "rota-log-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  ~LogFolder() {
    log_stop();
    fs::remove_all(path_);
  }

  LogOptions options() const {
    LogOptions out;
    out.process = "rota-test";
    out.console = false;
    out.file = (path_ / "sub" / "test.log").string();
    return out;
  }
  fs::path folder() const { return path_ / "sub"; }

 private:
  fs::path path_;
};

/// The process's current folder is one in which nobody, root included, can make a file.
class InProc {
 public:
  InProc() : before_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) { REQUIRE(::chdir("/proc") == 0); }
  ~InProc() { CHECK(::fchdir(before_.get()) == 0); }
  InProc(const InProc&) = delete;
  InProc& operator=(const InProc&) = delete;

 private:
  UniqueFd before_;
};

std::string content(const std::string& path) { return read_file(path, 64u << 20).value(); }

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("log: writes lines to a file and creates its folder") {
  LogFolder folder;
  log_start(folder.options());
  log_info("loop", "term began", {{"epoch", 3}, {"by", "a b"}});
  const std::string text = content(folder.options().file);
  CHECK(text.find("INFO  rota-test loop: term began epoch=3 by=\"a b\"\n") != std::string::npos);
  CHECK(lines_in(text) == 1);
}

TEST_CASE("log: writes JSON lines when asked to") {
  LogFolder folder;
  LogOptions options = folder.options();
  options.json = true;
  log_start(options);
  log_error("store", "gone\n", {{"tries", 2u}});
  const std::string text = content(options.file);
  CHECK(text.find(R"("level":"error","process":"rota-test","channel":"store","message":"gone\n",)"
                  R"("tries":2})") != std::string::npos);
  CHECK(lines_in(text) == 1);
}

TEST_CASE("log: each channel has its own level, which a second start changes") {
  LogFolder folder;
  LogOptions options = folder.options();
  options.level = Severity::Warn;
  options.channels["zk"] = Severity::Debug;
  log_start(options);
  CHECK(log_enabled("zk", Severity::Debug));
  CHECK_FALSE(log_enabled("loop", Severity::Debug));
  CHECK_FALSE(log_enabled("loop", Severity::Info));
  log_debug("zk", "one");
  log_info("loop", "two");
  options.channels.clear();
  options.level = Severity::Info;
  log_start(options);
  CHECK_FALSE(log_enabled("zk", Severity::Debug));
  log_debug("zk", "three");
  log_info("loop", "four");
  const std::string text = content(options.file);
  CHECK(text.find("zk: one") != std::string::npos);
  CHECK(text.find("two") == std::string::npos);
  CHECK(text.find("three") == std::string::npos);
  CHECK(text.find("loop: four") != std::string::npos);
}

TEST_CASE("log: rotates at the size and keeps the allowed number of files") {
  LogFolder folder;
  LogOptions options = folder.options();
  options.rotate_bytes = 4096;
  options.keep_files = 2;
  log_start(options);
  for (int i = 0; i < 400; ++i) log_info("loop", "a line of some length", {{"number", i}});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.folder())) {
    names.push_back(entry.path().filename().string());
    CHECK(entry.file_size() <= 4096 + 200);
  }
  CHECK(names.size() == 3);
  CHECK(std::count(names.begin(), names.end(), "test.log") == 1);
  CHECK(content(options.file).find("number=399") != std::string::npos);
}

TEST_CASE("log: rotates beside its file in any working folder, and across restarts, without losing a line") {
  LogFolder folder;
  LogOptions options = folder.options();
  options.rotate_bytes = 4096;
  options.keep_files = 4;
  {
    const InProc current;
    for (int life = 0; life < 3; ++life) {
      log_start(options);
      for (int i = 0; i < 200; ++i) log_info("loop", "a line of some length", {{"number", life * 200 + i}});
      log_stop();
    }
  }
  std::vector<std::string> names = names_in(folder.folder().string()).value();
  std::sort(names.begin(), names.end());
  REQUIRE(names.size() == 5);
  std::rotate(names.begin(), names.begin() + 1, names.end());  // the one without a number is the newest
  std::string all;
  for (const std::string& name : names) all += content((folder.folder() / name).string());
  const std::size_t lines = lines_in(all);
  CHECK(lines > 180);
  std::size_t at = 0;
  for (std::size_t number = 600 - lines; number < 600; ++number) {
    const std::string wanted = "number=" + std::to_string(number) + "\n";
    at = all.find(wanted, at);
    REQUIRE_MESSAGE(at != std::string::npos, wanted);
  }
}

TEST_CASE("log: loses no line while threads write and the sinks are replaced") {
  LogFolder folder;
  const LogOptions options = folder.options();
  log_start(options);
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  {
    std::vector<std::jthread> writers;
    for (int thread = 0; thread < kThreads; ++thread) {
      writers.emplace_back([thread] {
        for (int i = 0; i < kLines; ++i) log_info("loop", "x", {{"thread", thread}, {"i", i}});
      });
    }
    for (int i = 0; i < 20; ++i) log_start(options);
  }
  log_stop();
  CHECK(lines_in(content(options.file)) == kThreads * kLines);
}

TEST_CASE("log: a repeated line is held back, and written with its count at the end") {
  LogFolder folder;
  const LogOptions options = folder.options();
  log_start(options);
  for (int i = 0; i < 30; ++i) log_warn("term", "could not take office", {{"try", i}});
  log_info("term", "another line");
  CHECK(lines_in(content(options.file)) == 11);
  log_stop();
  const std::string text = content(options.file);
  CHECK(lines_in(text) == 12);
  CHECK(text.find("could not take office try=29 repeated=20\n") != std::string::npos);
}

TEST_CASE("log: a file that cannot be created does not stop the process") {
  LogFolder folder;
  LogOptions options = folder.options();
  options.file = "/proc/nowhere/test.log";
  log_start(options);
  log_info("loop", "still here");
  CHECK(log_enabled("loop", Severity::Info));
}

TEST_CASE("log: writes to a console again once its full disk has room") {
  LogFolder folder;
  REQUIRE(make_folders(folder.folder().string()));
  const std::string path = (folder.folder() / "console").string();
  LogOptions options = folder.options();
  options.file.clear();
  options.console = true;
  const UniqueFd own(::dup(2)), full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const UniqueFd roomy(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ::dup2(full.get(), 2);
  log_start(options);
  log_info("main", "nobody sees this");
  ::dup2(roomy.get(), 2);
  log_info("main", "there is room again");
  log_stop();
  ::dup2(own.get(), 2);
  CHECK(content(path).find("there is room again") != std::string::npos);
  CHECK(lines_in(content(path)) == 1);
}
