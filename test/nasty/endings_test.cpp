// What ends how: each row of the table in docs/jobs.md.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "common/base/file.h"
#include "common/base/unique_fd.h"
#include "test/nasty/nasty_worker.h"

namespace rota::testing {

namespace {

std::string file_of(const NastyWorker& it, const std::string& name, const std::string& content, int mode) {
  const std::string path = it.scratch(name);
  std::ofstream(path) << content;
  ::chmod(path.c_str(), static_cast<mode_t>(mode));
  return path;
}

void cannot_start(NastyWorker& it, const thrift::DispatchItem& item, const std::string& why) {
  const auto outcome = it.expect(it.start(item), {"failed", "start_failed", -1, 0});
  CHECK_MESSAGE(outcome.message.find(why) != std::string::npos, outcome.message);
}

/// Runs eight at a time, each with its expected record.
void run_all(NastyWorker& it, const std::vector<std::pair<std::vector<std::string>, Record>>& all) {
  for (std::size_t from = 0; from < all.size(); from += 8) {
    std::vector<std::int64_t> runs;
    const std::size_t to = std::min(from + 8, all.size());
    for (std::size_t i = from; i < to; ++i) runs.push_back(it.start(all[i].first));
    for (std::size_t i = from; i < to; ++i) it.expect(runs[i - from], all[i].second);
  }
}

/// A folder of the kernel's freezer, in which a process does not even die by SIGKILL.
class Freezer {
 public:
  bool freeze(pid_t pid) {
    std::error_code trouble;
    if (!std::filesystem::create_directory(folder_, trouble)) return false;
    std::ofstream(folder_ + "/cgroup.procs") << pid << std::flush;
    std::ofstream(folder_ + "/freezer.state") << "FROZEN" << std::flush;
    const std::string mine = std::to_string(pid) + "\n";
    return read_file(folder_ + "/cgroup.procs").value_or("") == mine &&
           eventually([&] { return read_file(folder_ + "/freezer.state").value_or("") == "FROZEN\n"; });
  }
  void thaw() { std::ofstream(folder_ + "/freezer.state") << "THAWED" << std::flush; }
  ~Freezer() {
    thaw();
    eventually([&] { return ::rmdir(folder_.c_str()) == 0 || errno != EBUSY; });
  }

 private:
  const std::string folder_ = "/sys/fs/cgroup/freezer/rota-test-" + std::to_string(::getpid());
};

}  // namespace

TEST_CASE("endings: a kill that is not proven is kill_failed, and its slot is set aside") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  REQUIRE_MESSAGE(!worker.join(master).incarnation.empty(), worker.log_text());
  REQUIRE(worker.dispatch(WorkerUnderTest::command(1, by_sh("echo up; while :; do :; done"))) == "none");
  REQUIRE(master.wait_log(1, 1, "up"));
  REQUIRE(eventually([&] { return worker.living().size() == 1; }));
  const auto pids = worker.living();
  REQUIRE(pids.size() == 1);
  Freezer freezer;
  if (!freezer.freeze(pids.front())) {
    MESSAGE("not run: this host has no freezer that can be written to");
    return;
  }
  worker.cancel(1, Millis{100});
  const auto outcome = master.outcome(1);
  CHECK(outcome.state == "kill_failed");
  CHECK(outcome.reason == "kill_unproven");
  CHECK(outcome.message.find("KILL after") != std::string::npos);
  CHECK(outcome.message.find("empty after") == std::string::npos);
  std::vector<thrift::DispatchItem> many;
  for (int run = 10; run < 18; ++run) many.push_back(WorkerUnderTest::command(run, {"sleep", "600"}));
  const auto answers = worker.dispatch_all(many);
  CHECK(std::count(answers.begin(), answers.end(), "none") == 7);
  CHECK(eventually([&] { return worker.living().size() == 8; }));
  freezer.thaw();
  CHECK(eventually([&] { return worker.living().size() == 7; }));
}

TEST_CASE("endings: every exit status from 0 to 255") {
  NastyWorker it;
  std::vector<std::pair<std::vector<std::string>, Record>> all;
  for (int status = 0; status <= 255; ++status) all.emplace_back(nasty("end_with", status), exited(status));
  run_all(it, all);
}

TEST_CASE("endings: every signal that ends a process") {
  NastyWorker it;
  std::vector<std::pair<std::vector<std::string>, Record>> all;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    const bool ends_nobody = number == SIGCHLD || number == SIGURG || number == SIGWINCH ||
                             number == SIGCONT || number == SIGSTOP || number == SIGTSTP ||
                             number == SIGTTIN || number == SIGTTOU || number == 32 || number == 33;
    if (ends_nobody) continue;
    Record record = signalled(number);
    if (number == SIGXCPU) record.reason = "cpu_exceeded";
    if (number == SIGXFSZ) record.reason = "file_size_exceeded";
    all.emplace_back(nasty("end_by", number), record);
  }
  CHECK(all.size() == 54);
  run_all(it, all);
}

TEST_CASE("endings: a core only when the job asks for it") {
  NastyWorker it;
  const auto plain = it.run(nasty("end_by", SIGQUIT), signalled(SIGQUIT));
  // When cores go to a program, the kernel ignores the limit; it reports that if the program reads to the end.
  const bool is_piped = read_file("/proc/sys/kernel/core_pattern").value_or("").starts_with("|");
  const std::string bare = "ended by signal 3 (SIGQUIT)";
  CHECK_MESSAGE((plain.message == bare || (is_piped && plain.message == bare + ", core dumped")), plain.message);
  auto item = it.item(nasty("end_by", SIGQUIT));
  item.work.limits.__set_core_bytes(1 << 20);
  const auto dumped = it.expect(it.start(item), signalled(SIGQUIT));
  MESSAGE(dumped.message);
}

TEST_CASE("endings: a failed start says what and why") {
  NastyWorker it;
  cannot_start(it, it.item({"no-such-program"}), "No such file");
  cannot_start(it, it.item({"/nowhere/tool"}), "No such file");
  cannot_start(it, it.item({file_of(it, "plain", "text", 0644)}), "Permission denied");
  cannot_start(it, it.item({"/tmp"}), "Permission denied");
  cannot_start(it, it.item({file_of(it, "garbage", "\x7f no program", 0755)}), "Exec format error");
  cannot_start(it, it.item({file_of(it, "shebang", "#!/nowhere/sh\n", 0755)}), "interpreter was not found");
  cannot_start(it, it.item({"/bin/echo", std::string(200'000, 'x')}), "Argument list too long");
  cannot_start(it, it.item({"/" + std::string(50'000, 'x')}), "File name too long");
  auto folder = it.item({"/bin/true"});
  folder.work.__set_folder("/nowhere");
  cannot_start(it, folder, "folder /nowhere: No such file");
  folder.attempt.run = it.item({"/bin/true"}).attempt.run;
  folder.work.__set_folder("/bin/true");
  cannot_start(it, folder, "folder /bin/true: Not a directory");
}

TEST_CASE("endings: a program that is being written is text busy") {
  NastyWorker it;
  const std::string copy = it.scratch("busy");
  std::filesystem::copy_file("/bin/true", copy);
  const UniqueFd writer(::open(copy.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  cannot_start(it, it.item({copy}), "Text file busy");
}

TEST_CASE("endings: cancelled while it runs, with the steps that were done") {
  NastyWorker it;
  const auto soft = it.start({"/bin/sleep", "600"});
  CHECK(it.master().wait_started(soft));
  it.worker().cancel(soft, kPatience);
  const auto one = it.expect(soft, {"killed", "cancelled_by_user", -1, SIGTERM});
  CHECK(one.message.starts_with("cancelled; TERM after "));
  CHECK(one.message.find("KILL") == std::string::npos);
  const auto hard = it.start(by_sh("trap '' TERM; echo deaf; while :; do sleep 1; done"));
  CHECK(it.master().wait_log(hard, 1, "deaf"));
  it.worker().cancel(hard, Millis{100});
  const auto two = it.expect(hard, {"killed", "cancelled_by_user", -1, SIGKILL});
  CHECK(two.message.find(", KILL after ") != std::string::npos);
  CHECK(two.message.find(", empty after ") != std::string::npos);
}

}  // namespace rota::testing
