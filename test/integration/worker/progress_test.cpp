#include <doctest/doctest.h>
#include <signal.h>

#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

namespace {
std::vector<std::string> in_shell(const std::string& text) { return {"/bin/sh", "-c", text}; }
}  // namespace

TEST_CASE("worker: a command reports progress, checkpoint and result, and its next attempt goes on") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  REQUIRE_MESSAGE(!worker.join(master).incarnation.empty(), worker.log_text());
  SUBCASE("while it runs, and with its end") {
    auto item = WorkerUnderTest::command(
        10, in_shell("echo 'progress 40 half' >&$ROTA_FD; echo 'checkpoint line 7' >&3; "
                     "while [ ! -e " + worker.folder() + "/go ]; do sleep 0.02; done; "
                     "echo 'result 42' >&3; echo hm >&3; exit 3"));
    REQUIRE(worker.dispatch(item) == "none");
    const auto told = master.wait_checkpoint(10, "line 7");
    CHECK(told.checkpoint == "line 7");
    CHECK(told.percent == 40);
    REQUIRE(::system(("touch " + worker.folder() + "/go").c_str()) == 0);
    const auto outcome = master.outcome(10);
    CHECK(outcome.exit_status == 3);
    CHECK(outcome.result == "42");
    CHECK(outcome.message.find("1 lines on ROTA_FD were not understood, the first 'hm'") !=
          std::string::npos);
  }
  SUBCASE("the next attempt gets it, as a variable and as a file") {
    auto item = WorkerUnderTest::command(
        11, in_shell("printf '%s|' \"$ROTA_CHECKPOINT\"; cat \"$ROTA_CHECKPOINT_FILE\""));
    item.attempt.attempt = 2;
    item.__set_checkpoint("line 7");
    REQUIRE(worker.dispatch(item) == "none");
    CHECK(master.outcome(11, kPatience, 2).state == "succeeded");
    CHECK(master.log(11, 1, 13) == "line 7|line 7");
    item.attempt.run = 12;
    item.__set_checkpoint(std::string("a\0b", 3));
    REQUIRE(worker.dispatch(item) == "none");
    CHECK(master.outcome(12, kPatience, 2).state == "succeeded");
    CHECK(master.log(12, 1, 4) == std::string("|a\0b", 4));
  }
  SUBCASE("a failure in its own words") {
    REQUIRE(worker.dispatch(WorkerUnderTest::command(
                13, in_shell("echo 'failure the disk of host 7 is full' >&3; exit 9"))) == "none");
    CHECK(master.outcome(13).message == "the disk of host 7 is full (exit status 9)");
  }
  SUBCASE("a flood of lines waits, is told once a second, and harms nobody") {
    REQUIRE(worker.dispatch(WorkerUnderTest::command(
                14, in_shell("yes 'checkpoint x' | head -n 200000 >&3; echo 'checkpoint end' >&3"))) == "none");
    const auto outcome = master.outcome(14);
    CHECK(outcome.state == "succeeded");
    const auto told = master.wait_checkpoint(14, "end");
    CHECK(told.checkpoint == "end");
    CHECK(told.count <= 3 + (outcome.ended_ms - outcome.started_ms) / 1000);
  }
}

TEST_CASE("worker: a killed proper forgets no word that a job has said") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  const auto first = worker.join(master);
  REQUIRE_MESSAGE(!first.incarnation.empty(), worker.log_text());
  REQUIRE(worker.dispatch(WorkerUnderTest::command(
              20, in_shell("echo 'result early' >&3; echo 'checkpoint before' >&3; echo up; while [ ! -e " +
                           worker.folder() + "/go ]; do sleep 0.02; done; echo 'checkpoint after' >&3"))) == "none");
  REQUIRE(master.wait_log(20, 1, "up"));
  CHECK(master.wait_checkpoint(20, "before").checkpoint == "before");
  master.set_deaf(true);
  ::kill(worker.proper(), SIGKILL);
  REQUIRE(!worker.join(master, 1, first.incarnation).incarnation.empty());
  REQUIRE(::system(("touch " + worker.folder() + "/go").c_str()) == 0);
  REQUIRE(worker.wait_finished(20));
  // Its end waits in the outbox; the proper dies again before anybody heard the last checkpoint.
  const auto second = worker.inventory().worker.incarnation;
  ::kill(worker.proper(), SIGKILL);
  REQUIRE(!worker.join(master, 1, second).incarnation.empty());
  master.set_deaf(false);
  const auto outcome = master.outcome(20);
  CHECK(outcome.state == "succeeded");
  CHECK(outcome.result == "early");
  CHECK(master.wait_checkpoint(20, "after").checkpoint == "after");
}

}  // namespace rota::testing
