// Programs that multiply, hide, or attack others.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "test/nasty/nasty_worker.h"

namespace rota::testing {

TEST_CASE("nasty: double fork and setsid, twenty times") {
  NastyWorker it;
  it.run(by_sh("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do"
               " (setsid sh -c 'sleep 600 & sleep 600' &) ; done; exit 3"), exited(3));
}

TEST_CASE("nasty: daemons without descriptors, environment, session, deaf to every signal") {
  NastyWorker it;
  it.run(nasty("daemons", 30), {});
}

TEST_CASE("nasty: env -i in a session of its own") {
  NastyWorker it;
  it.run(by_sh("(setsid env -i /bin/sh -c '(setsid /bin/sleep 600 </dev/null >/dev/null 2>&1 &)' &);"
               " sleep 0.1; exit 9"), exited(9));
}

TEST_CASE("nasty: 500 zombies without a waiting parent") {
  NastyWorker it;
  it.run(nasty("zombies", 500), exited(4));
}

TEST_CASE("nasty: 300 orphans that end later") {
  NastyWorker it;
  it.run(by_sh("i=0; while [ $i -lt 300 ]; do (true &); i=$((i+1)); done; sleep 0.1"), {});
}

TEST_CASE("nasty: vfork in a loop") {
  NastyWorker it;
  it.run(nasty("vfork_loop", is_long_form() ? 50'000 : 3000), {});
}

TEST_CASE("nasty: a chain of 300 execs") {
  NastyWorker it;
  it.run(nasty("exec_chain", 300), exited(5));
}

TEST_CASE("nasty: its first thread ends, the others live on") {
  NastyWorker it;
  const auto run = it.start(nasty("leader_thread_ends", 50));
  CHECK(it.master().wait_log(run, 1, "threads"));
  it.worker().cancel(run, Millis{100});
  it.expect(run, {"killed", "cancelled_by_user", -1, -1});
}

TEST_CASE("nasty: exits within a millisecond, again and again") {
  NastyWorker it;
  const int count = is_long_form() ? 10'000 : 1000;
  int ended = 0;
  std::vector<std::int64_t> open;
  for (int started = 0; started < count || !open.empty();) {
    std::vector<thrift::DispatchItem> items;
    while (started < count && open.size() + items.size() < 8) {
      items.push_back(it.item(nasty("end_with", started % 256)));
      ++started;
    }
    const auto answers = it.worker().dispatch_all(items);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == "none") {
        open.push_back(items[i].attempt.run * 1000 + std::atoi(items[i].work.argv[2].c_str()));
      } else {
        --started;  // the previous run's slot is not free yet: another run with the next status
      }
    }
    if (open.empty()) continue;
    const std::int64_t first = open.front();
    open.erase(open.begin());
    ended += it.master().outcome(first / 1000).exit_status == first % 1000;
  }
  CHECK(ended == count);
}

TEST_CASE("nasty: seizes every process that it sees, but sees none of another attempt") {
  NastyWorker it;
  const auto sibling = it.start(by_sh("sleep 0.6; exit 8"));
  CHECK(it.master().wait_started(sibling));
  const auto run = it.start(nasty("trace_others"));
  const auto outcome = it.expect(run, {});
  CHECK(it.text(run, 1, outcome.stdout_bytes) == "seized 0, pid 1: no\n");
  it.expect(sibling, exited(8));
}

TEST_CASE("nasty: kill -9 -1 reaches only itself") {
  NastyWorker it;
  const auto sibling = it.start(by_sh("sleep 0.5; exit 8"));
  it.run(by_sh("(sleep 600 &) ; kill -9 -1; echo alive; exit 4"), exited(4));
  it.expect(sibling, exited(8));
}

TEST_CASE("nasty: kills its parent's group") {
  NastyWorker it;
  it.run(by_sh("kill -9 $PPID; kill -9 -$PPID; kill -9 -- -1 2>/dev/null; kill -9 0"), signalled(SIGKILL));
}

TEST_CASE("nasty: every signal to pid 1") {
  NastyWorker it;
  it.run(by_sh("i=1; while [ $i -le 64 ]; do kill -$i 1 2>/dev/null; i=$((i+1)); done; exit 2"), exited(2));
}

TEST_CASE("nasty: namespaces within its namespace") {
  NastyWorker it;
  it.run(by_sh("(unshare -pf --mount-proc sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &);"
               " sleep 0.2; exit 6"), exited(6));
}

TEST_CASE("nasty: writes to its own files in /proc") {
  NastyWorker it;
  it.run(by_sh("for f in oom_score_adj oom_adj comm attr/current autogroup loginuid timerslack_ns"
               " coredump_filter clear_refs uid_map; do echo -1000 > /proc/self/$f; done 2>/dev/null;"
               " cat /proc/self/mem > /dev/null 2>&1; exit 5"), exited(5));
}

TEST_CASE("nasty: setuid gains nothing") {
  NastyWorker it;
  if (::geteuid() != 0) return;  // only root may make such a file
  const std::string program = it.scratch("setuid-id");
  std::filesystem::copy_file("/usr/bin/id", program);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  auto item = it.item({program, "-u"});
  item.work.__set_run_as("nobody");
  const auto run = it.start(item);
  it.expect(run, {});
  CHECK(it.text(run, 1, 6) == "65534\n");
}

TEST_CASE("nasty: as another user it neither reads the worker's state nor signals anybody") {
  NastyWorker it;
  if (::geteuid() != 0) return;
  auto item = it.item(by_sh("id -un; cd \"$ROTA_WORK_FOLDER\" && touch mine && echo wrote; cat " +
                            it.worker().folder() + "/state/outbox 2>/dev/null && echo read; kill -9 1; "
                            "echo $HOME $USER; umask; exit 3"));
  item.work.__set_run_as("nobody");
  item.work.__set_umask(027);
  const auto run = it.start(item);
  const auto outcome = it.expect(run, exited(3));
  CHECK(it.text(run, 1, outcome.stdout_bytes) == "nobody\nwrote\n/nonexistent nobody\n0027\n");
}

TEST_CASE("nasty: asks for a user that the worker does not list") {
  NastyWorker it;
  auto item = it.item({"/usr/bin/id"});
  item.work.__set_run_as("root");
  CHECK(it.worker().dispatch(item) == "malformed");
}

}  // namespace rota::testing
