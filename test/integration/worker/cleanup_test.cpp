// `cleanup` of a job: what runs on the worker behind each attempt, whoever dies in between.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

namespace {

std::vector<std::string> a_shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::size_t notes_in(const WorkerUnderTest& worker) {
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator(worker.folder() + "/state/cleanups", ignored)) {
    count += each.is_regular_file();
  }
  return count;
}

/// A worker that has joined, and the file in which its cleanups say that they ran.
struct Cleaned {
  FakeMaster master;
  WorkerUnderTest worker;
  std::string life;
  std::string done;
  explicit Cleaned(WorkerSettings settings = {}) : worker(std::move(settings)) {
    worker.start();
    life = worker.join(master).incarnation;
    REQUIRE_MESSAGE(!life.empty(), worker.log_text());
    done = worker.folder() + "/done";
  }

  /// `cleanup` in addition to the line in the file.
  thrift::DispatchItem item(std::int64_t run, const std::string& text, const std::string& cleanup = ":") const {
    auto item = WorkerUnderTest::command(run, a_shell(text));
    item.work.cleanup = a_shell("echo {{run}}-{{attempt}} >> " + done + "; " + cleanup);
    return item;
  }
  bool wait_done(const std::string& lines) const {
    return eventually([&] { return read(done) == lines; });
  }
  void restart_proper(pid_t proper) {
    ::kill(proper, SIGKILL);
    const std::string before = std::exchange(life, {});
    life = worker.join(master, 1, before).incarnation;
    REQUIRE_MESSAGE(!life.empty(), worker.log_text());
  }
};

}  // namespace

TEST_CASE("cleanup: runs after a success, a failure, a timeout, a cancel and a failed start") {
  Cleaned it;
  SUBCASE("success") {
    REQUIRE(it.worker.dispatch(it.item(10, "echo out", "echo tidied; echo told >&2")) == "none");
    const auto outcome = it.master.outcome(10);
    CHECK(outcome.state == "succeeded");
    const std::string text = it.master.log(10, 1, outcome.stdout_bytes);
    CHECK(text == "out\n\n[rota] cleanup of run 10, attempt 1\ntidied\n");
    CHECK(it.master.log(10, 2, outcome.stderr_bytes) == "\n[rota] cleanup of run 10, attempt 1\ntold\n");
  }
  SUBCASE("a cleanup that says nothing leaves no mark") {
    REQUIRE(it.worker.dispatch(it.item(10, "echo out")) == "none");
    const auto outcome = it.master.outcome(10);
    CHECK(outcome.stdout_bytes == 4);
    CHECK(outcome.stderr_bytes == 0);
  }
  SUBCASE("failure") {
    REQUIRE(it.worker.dispatch(it.item(10, "exit 3")) == "none");
    CHECK(it.master.outcome(10).exit_status == 3);
  }
  SUBCASE("timeout") {
    auto item = it.item(10, "exec sleep 60");
    item.timeout_ms = 100;
    item.kill_grace_ms = 100;
    REQUIRE(it.worker.dispatch(item) == "none");
    CHECK(it.master.outcome(10).state == "timed_out");
  }
  SUBCASE("cancel") {
    REQUIRE(it.worker.dispatch(it.item(10, "echo up; exec sleep 60")) == "none");
    REQUIRE(it.master.wait_log(10, 1, "up"));
    it.worker.cancel(10, Millis{100});
    CHECK(it.master.outcome(10).state == "killed");
  }
  SUBCASE("a program that is not there") {
    auto item = it.item(10, "");
    item.work.argv = {"/no/such/program"};
    REQUIRE(it.worker.dispatch(item) == "none");
    CHECK(it.master.outcome(10).reason == "start_failed");
  }
  CHECK(read(it.done) == "10-1\n");  // before the end is told
  CHECK(eventually([&] { return notes_in(it.worker) == 0; }));
}

TEST_CASE("cleanup: is over before the end is told, and no other attempt of the run begins meanwhile") {
  Cleaned it;
  const std::string go = it.worker.folder() + "/go";
  REQUIRE(it.worker.dispatch(it.item(20, "exit 1", "while [ ! -e " + go + " ]; do sleep 0.01; done")) == "none");
  REQUIRE(it.wait_done("20-1\n"));
  CHECK_FALSE(it.master.has_outcome(20));
  auto next = it.item(20, "true");
  next.attempt.attempt = 2;
  CHECK(it.worker.dispatch(next) == "no_slot");
  it.worker.cancel(20, Millis{0});  // does not reach what cleans up
  REQUIRE(::system(("touch " + go).c_str()) == 0);
  CHECK(it.master.outcome(20).state == "failed");
  CHECK(it.worker.dispatch(next) == "no_slot");  // a refusal is final
  next.attempt.attempt = 3;
  CHECK(it.worker.dispatch(next) == "none");
  CHECK(it.master.outcome(20, kPatience, 3).state == "succeeded");
}

TEST_CASE("cleanup: one that fails, or is not there, ends the attempt kill_failed and keeps no slot") {
  Cleaned it;
  std::string expected;
  SUBCASE("fails") {
    for (std::int64_t run = 30; run < 42; ++run) {  // more than it has slots
      REQUIRE(it.worker.dispatch(it.item(run, "true", "exit 5")) == "none");
      const auto outcome = it.master.outcome(run);
      CHECK(outcome.state == "kill_failed");
      CHECK(outcome.reason == "cleanup_failed");
      CHECK(outcome.message.find("cleanup failed: exit status 5; the attempt itself had succeeded") == 0);
      CHECK(outcome.exit_status == 0);
    }
  }
  SUBCASE("is not there") {
    auto item = it.item(30, "exit 2");
    item.work.cleanup = {"/no/such/cleanup", "{{run}}"};
    REQUIRE(it.worker.dispatch(item) == "none");
    const auto outcome = it.master.outcome(30);
    CHECK(outcome.state == "kill_failed");
    CHECK(outcome.reason == "cleanup_failed");
    CHECK(outcome.message.find("/no/such/cleanup") != std::string::npos);
    CHECK(outcome.message.find("ended failed: exit status 2") != std::string::npos);
  }
  CHECK(it.worker.dispatch(WorkerUnderTest::command(50, {"true"})) == "none");
  CHECK(it.master.outcome(50).state == "succeeded");
}

TEST_CASE("cleanup: the proper is killed while the attempt runs, or while its cleanup does") {
  Cleaned it;
  const std::string go = it.worker.folder() + "/go";
  const std::string waits = "while [ ! -e " + go + " ]; do sleep 0.01; done";
  SUBCASE("the attempt") {
    REQUIRE(it.worker.dispatch(it.item(60, "echo up; " + waits)) == "none");
    REQUIRE(it.master.wait_log(60, 1, "up"));
    it.restart_proper(it.worker.proper());
    CHECK(read(it.done).empty());
    REQUIRE(::system(("touch " + go).c_str()) == 0);
  }
  SUBCASE("the attempt, which ends meanwhile") {
    REQUIRE(it.worker.dispatch(it.item(60, "echo up; exec sleep 0.3")) == "none");
    REQUIRE(it.master.wait_log(60, 1, "up"));
    const pid_t proper = it.worker.proper();
    ::kill(proper, SIGSTOP);
    CHECK(eventually([&] { return it.worker.living().empty(); }));
    it.restart_proper(proper);
  }
  SUBCASE("its cleanup") {
    REQUIRE(it.worker.dispatch(it.item(60, "echo up", waits + "; echo tidied")) == "none");
    REQUIRE(it.wait_done("60-1\n"));
    it.restart_proper(it.worker.proper());
    CHECK_FALSE(it.master.has_outcome(60));
    REQUIRE(::system(("touch " + go).c_str()) == 0);
    CHECK(it.master.wait_log(60, 1, "tidied\n"));
  }
  SUBCASE("its cleanup, which ends meanwhile") {
    REQUIRE(it.worker.dispatch(it.item(60, "true", "exec sleep 0.3")) == "none");
    REQUIRE(it.wait_done("60-1\n"));
    const pid_t proper = it.worker.proper();
    ::kill(proper, SIGSTOP);
    CHECK(eventually([&] { return it.worker.living().empty(); }));
    it.restart_proper(proper);
  }
  CHECK(it.master.outcome(60).state == "succeeded");
  CHECK(read(it.done) == "60-1\n");
  CHECK(eventually([&] { return notes_in(it.worker) == 0; }));
}

TEST_CASE("cleanup: the whole worker is killed; its next start cleans up behind what died") {
  Cleaned it;
  const std::string cut = it.worker.folder() + "/cut";
  std::string lines = "70-1\n";
  SUBCASE("while the attempt runs") {
    REQUIRE(it.worker.dispatch(it.item(70, "echo up; exec sleep 60")) == "none");
    REQUIRE(it.master.wait_log(70, 1, "up"));
  }
  SUBCASE("while its cleanup runs, which then runs once more") {
    lines += lines;
    REQUIRE(it.worker.dispatch(it.item(70, "true", "[ -e " + cut + " ] || exec sleep 60")) == "none");
    REQUIRE(it.wait_done("70-1\n"));
    REQUIRE(::system(("touch " + cut).c_str()) == 0);
  }
  CHECK(notes_in(it.worker) == 1);
  it.worker.signal(SIGKILL);
  REQUIRE(it.worker.wait_exit() != 0);
  REQUIRE(eventually([&] { return it.worker.living().empty(); }));
  it.worker.start();
  REQUIRE_MESSAGE(!it.worker.join(it.master, 1, it.life).incarnation.empty(), it.worker.log_text());
  const auto outcome = it.master.outcome(70);
  CHECK(outcome.state == "lost");
  CHECK(outcome.reason == "attempt_died");
  CHECK(it.master.reported_life(70) == it.life);
  CHECK(read(it.done) == lines);
  CHECK(eventually([&] { return notes_in(it.worker) == 0; }));
}

TEST_CASE("cleanup: needs no voucher, neither to start nor to go on") {
  Cleaned it({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = {}, .vouching = kBrief});
  const std::string go = it.worker.folder() + "/go";
  const std::string waits = "while [ ! -e " + go + " ]; do sleep 0.01; done";
  REQUIRE(it.worker.dispatch(it.item(80, "echo up; exec sleep 60", waits)) == "none");
  REQUIRE(it.worker.dispatch(it.item(81, "true", waits)) == "none");
  REQUIRE(it.master.wait_log(80, 1, "up"));
  REQUIRE(it.wait_done("81-1\n"));
  ZookeeperPause pause;
  it.master.set_vouching(false);
  const pid_t first = it.worker.proper();
  REQUIRE(eventually([&] { return !WorkerUnderTest::is_up(first); }));
  REQUIRE(it.wait_done("81-1\n80-1\n"));  // begun without one
  CHECK(it.worker.living().size() >= 2);
  REQUIRE(::system(("touch " + go).c_str()) == 0);
  CHECK(eventually([&] { return it.worker.living().empty(); }));
  pause.end();
  it.master.set_vouching(true);
  REQUIRE(!it.worker.join(it.master, 1, it.life).incarnation.empty());
  CHECK(it.master.outcome(80).state == "lost");
  CHECK(it.master.outcome(81).state == "succeeded");
}

TEST_CASE("cleanup: a drained worker ends only when it has cleaned up") {
  Cleaned it({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = "drain_deadline_ms: 200\n"});
  REQUIRE(it.worker.dispatch(it.item(90, "echo up; exec sleep 60", "sleep 0.3; echo tidied >> " + it.done)) == "none");
  REQUIRE(it.master.wait_log(90, 1, "up"));
  it.worker.signal(SIGTERM);
  CHECK(it.worker.wait_exit() == 0);
  CHECK(it.master.outcome(90).state == "lost");
  CHECK(read(it.done) == "90-1\ntidied\n");
}

}  // namespace rota::testing
