#include "test/nasty/nasty_worker.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/file.h"
#include "worker/warden/process_scan.h"

namespace rota::testing {

namespace {

constexpr std::int64_t kRenewMs = 100;
std::size_t entries_in(const std::string& folder) {
  const auto names = names_in(folder);
  return names ? names->size() : 0;
}

/// A folder that other users may enter, as run_as needs it.
std::string make_work_dir() {
  char name[] = "/tmp/rota-nasty-XXXXXX";
  std::string folder = ::mkdtemp(name);
  ::chmod(folder.c_str(), 0711);
  return folder;
}

/// All except sockets: connections open and close at times of their own, and are counted separately.
struct Descriptors {
  std::size_t sockets = 0, others = 0;
};
Descriptors descriptors_of(pid_t pid) {
  Descriptors out;
  std::error_code ignored;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const std::string& name : names_in(folder).value_or(Names{})) {
    const std::string target = std::filesystem::read_symlink(folder + "/" + name, ignored).string();
    ++(target.starts_with("socket:") ? out.sockets : out.others);
  }
  return out;
}

std::string containment() {
  const char* const named = ::getenv("ROTA_NASTY_MEANS");
  return named != nullptr ? named : "auto";
}

/// The worker that all cases share, with its state before each.
struct Shared {
  std::string folder = make_work_dir();
  FakeMaster master;
  WorkerUnderTest worker{{.id = "nasty",
                          .binary = ROTA_WORKER,
                          .extra_yaml = "renew_every_ms: " + std::to_string(kRenewMs) +
                                        "\nwork_dir: " + folder + "/work\nrun_as_users: [nobody]\n" +
                                        "containment: " + containment() + "\n"}};
  std::string life;
  pid_t proper = -1, warden = -1;
  Descriptors proper_fds, warden_fds;
  std::int64_t next_run = 1;
  std::vector<std::int64_t> lateness_us;

  Shared() {
    rlimit stack{};  // a program's arguments may use a share of it
    ::getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = std::min<rlim_t>(stack.rlim_cur, 8 << 20);
    ::setrlimit(RLIMIT_STACK, &stack);
    worker.start();
    life = worker.join(master).incarnation;
    proper = worker.proper();
    warden = WorkerUnderTest::parent_of(proper);
    (void)master.outcome(run("true"));  // opens what is opened only once
  }
  ~Shared() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::int64_t run(const char* program) {
    auto item = WorkerUnderTest::command(next_run, {program});
    (void)worker.dispatch(item);
    return next_run++;
  }
};

Shared& shared() {
  static Shared instance;
  return instance;
}

/// Descendants of the worker, except the proper: processes that jobs have left, and all zombies.
std::vector<pid_t> left_below(pid_t warden, pid_t proper) {
  std::vector<pid_t> found, open{warden};
  const auto all = worker::warden::list_processes();
  for (std::size_t at = 0; at < open.size(); ++at) {
    for (const auto& process : all) {
      if (process.parent != open[at]) continue;
      open.push_back(process.identity.pid);
      if (process.identity.pid != proper || process.is_dead) found.push_back(process.identity.pid);
    }
  }
  return found;
}

/// The allowance for a few more connections; they are bounded, and none belongs to a job.
constexpr std::size_t kMoreSockets = 8;

void check_descriptors(const char* whose, pid_t pid, const Descriptors& before) {
  const bool is_back = eventually([&] {
    const Descriptors now = descriptors_of(pid);
    return now.others <= before.others && now.sockets <= before.sockets + kMoreSockets;
  });
  const Descriptors now = descriptors_of(pid);
  CHECK_MESSAGE(is_back, whose << ": " << now.others << " descriptors, before " << before.others << "; "
                               << now.sockets << " sockets, before " << before.sockets);
}

/// Folders of attempts that exist and are not prepared for the next attempt.
std::size_t folders_left(const std::string& work_dir) {
  std::size_t count = 0;
  std::error_code ignored;
  for (const std::string& own : names_in(work_dir).value_or(Names{})) {
    if (own == "kept") continue;
    for (const std::string& name : names_in(work_dir + "/" + own).value_or(Names{})) {
      const std::string path = work_dir + "/" + own + "/" + name;
      const bool is_link = std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored));
      count += is_link || entries_in(path) != 0;
    }
  }
  return count;
}

/// How late each renewal was.
void note_lateness(const std::vector<MonoTime>& renewals, std::vector<std::int64_t>& out) {
  for (std::size_t i = 1; i < renewals.size(); ++i) {
    out.push_back((renewals[i] - renewals[i - 1]).count() - kRenewMs * 1000);
  }
}

std::int64_t percentile(std::vector<std::int64_t> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

bool is_long_form() {
  const char* const wanted = ::getenv("ROTA_NASTY_LONG");
  return wanted != nullptr && *wanted == '1';
}

std::vector<std::string> by_sh(const std::string& text) { return {"/bin/sh", "-c", text}; }
std::vector<std::string> by_python(const std::string& text) {
  return {"/usr/bin/python3", "-c", text};
}
std::vector<std::string> nasty(const std::string& deed, long number) {
  return {NASTY_JOB, deed, std::to_string(number)};
}

NastyWorker::NastyWorker() {
  Shared& all = shared();
  REQUIRE_MESSAGE(!all.life.empty(), all.worker.log_text());
  (void)all.master.collect_renewals();
  all.proper_fds = descriptors_of(all.proper);
  all.warden_fds = descriptors_of(all.warden);
}

NastyWorker::~NastyWorker() {
  Shared& all = shared();
  for (const std::int64_t run : runs_) all.worker.cancel(run, Millis{0});  // a case that failed half-way
  const auto left = [&] { return left_below(all.warden, all.proper); };
  CHECK_MESSAGE(eventually([&] { return left().empty(); }), "processes: " << left().size());
  const auto work = work_dir();
  CHECK_MESSAGE(eventually([&] { return folders_left(work) == 0; }),
                "folders: " << folders_left(work));
  const auto spool = [&] { return entries_in(all.worker.folder() + "/state/spool"); };
  CHECK_MESSAGE(eventually([&] { return spool() == 0; }), "spool files: " << spool());
  check_descriptors("proper", all.proper, all.proper_fds);
  check_descriptors("warden", all.warden, all.warden_fds);
  CHECK(all.worker.proper() == all.proper);
  CHECK(all.master.bad_chunks() == 0);
  std::vector<std::int64_t> late;
  note_lateness(all.master.collect_renewals(), late);
  all.lateness_us.insert(all.lateness_us.end(), late.begin(), late.end());
  MESSAGE("nasty beats=" << late.size() << " late_p99_ms=" << percentile(late, 0.99) / 1000
                         << " all_beats=" << all.lateness_us.size() << " all_late_p99_ms="
                         << percentile(all.lateness_us, 0.99) / 1000 << " all_late_max_ms="
                         << percentile(all.lateness_us, 1.0) / 1000);
}

thrift::DispatchItem NastyWorker::item(std::vector<std::string> argv) {
  return WorkerUnderTest::command(shared().next_run++, std::move(argv));
}

std::int64_t NastyWorker::start(const thrift::DispatchItem& item) {
  runs_.push_back(item.attempt.run);
  CHECK(shared().worker.dispatch(item) == "none");
  return item.attempt.run;
}

thrift::Outcome NastyWorker::expect(std::int64_t run, const Record& record, Millis at_most) {
  const thrift::Outcome outcome = shared().master.outcome(run, at_most);
  CAPTURE(outcome.message);
  CHECK(outcome.state == record.state);
  CHECK(outcome.reason == record.reason);
  if (record.exit_status >= 0) CHECK(outcome.exit_status == record.exit_status);
  if (record.signal >= 0) CHECK(outcome.signal == record.signal);
  if (!outcome.state.empty()) std::erase(runs_, run);
  return outcome;
}

WorkerUnderTest& NastyWorker::worker() { return shared().worker; }
FakeMaster& NastyWorker::master() { return shared().master; }

void NastyWorker::kill_proper() {
  Shared& all = shared();
  REQUIRE(all.proper > 1);
  ::kill(all.proper, SIGKILL);
  all.life = all.worker.join(all.master, 1, all.life).incarnation;
  REQUIRE_MESSAGE(!all.life.empty(), all.worker.log_text());
  all.proper = all.worker.proper();
}

std::string NastyWorker::text(std::int64_t run, int stream, std::int64_t length) {
  return shared().master.log(run, stream, length);
}

const std::string& NastyWorker::work_dir() const {
  static const std::string folder = shared().folder + "/work";
  return folder;
}

std::string NastyWorker::scratch(const std::string& name) const {
  return shared().folder + "/" + name;
}

}  // namespace rota::testing
