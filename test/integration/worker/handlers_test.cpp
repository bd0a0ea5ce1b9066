#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>


#include "common/base/file.h"
#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

namespace {

/// A worker with the handlers of handler_worker.cpp, joined.
struct HandlerHouse {
  FakeMaster master;
  WorkerUnderTest worker{{.id = "w1", .binary = ROTA_HANDLER_WORKER, .extra_yaml = {}}};
  model::WorkerKey life;

  HandlerHouse() {
    worker.start();
    life = worker.join(master);
    REQUIRE_MESSAGE(!life.incarnation.empty(), worker.log_text());
  }
  static thrift::DispatchItem alone(std::int64_t run, const std::string& name) {
    auto item = WorkerUnderTest::handler(run, name);
    item.work.__set_isolation("process");
    return item;
  }
  thrift::Outcome end_of(const thrift::DispatchItem& item) {
    REQUIRE(worker.dispatch(item) == "none");
    return master.outcome(item.attempt.run, kPatience, item.attempt.attempt);
  }
};

thrift::DispatchItem hanging(std::int64_t run, int attempt, std::int64_t timeout_ms) {
  auto item = HandlerHouse::alone(run, "hang");
  item.attempt.__set_attempt(attempt);
  item.__set_timeout_ms(timeout_ms);
  item.__set_kill_grace_ms(50);
  return item;
}

}  // namespace

TEST_CASE("worker: a handler sees and says the same in a process of its own as inside of the worker") {
  HandlerHouse it;
  std::int64_t run = 100;
  for (const std::string isolation : {"worker", "process"}) {
    CAPTURE(isolation);
    auto item = WorkerUnderTest::handler(++run, "tell");
    item.work.__set_isolation(isolation);
    item.__set_parameters({{"a b", "x\ny"}});
    item.attempt.attempt = 2;
    item.__set_checkpoint(std::string("be\0fore", 7));
    const auto outcome = it.end_of(item);
    CHECK(outcome.state == "succeeded");
    CHECK(outcome.result == "the result");
    CHECK(outcome.message.empty());
    const std::string line = "run " + std::to_string(run) + " of job on w1: x\ny\n";
    CHECK(it.master.log(run, 1, outcome.stdout_bytes) == line + std::string("raw\0bytes\n", 10));
    CHECK(it.master.log(run, 2, outcome.stderr_bytes) == std::string("checkpoint be\0fore\n", 19));
    const auto told = it.master.wait_checkpoint(run, std::string("at\0 7\n", 6));
    CHECK(told.checkpoint == std::string("at\0 7\n", 6));
    CHECK(told.percent == 70);
    for (const char* name : {"refuse", "throw"}) {
      auto failing = WorkerUnderTest::handler(++run, name);
      failing.work.__set_isolation(isolation);
      const auto failed = it.end_of(failing);
      CHECK(failed.state == "failed");
      CHECK(failed.reason == "handler_failed");
      CHECK(failed.message == (std::string(name) == "refuse" ? "no such\ncustomer" : "the handler threw: boom"));
    }
    auto told_to_stop = WorkerUnderTest::handler(++run, "yield");
    told_to_stop.work.__set_isolation(isolation);
    told_to_stop.__set_kill_grace_ms(kPatience.count());
    REQUIRE(it.worker.dispatch(told_to_stop) == "none");
    REQUIRE(it.master.wait_log(run, 1, "waiting"));
    it.worker.cancel(run, kPatience);
    const auto cancelled = it.master.outcome(run);
    CHECK(cancelled.state == "killed");
    CHECK(it.master.log(run, 1, cancelled.stdout_bytes) == "waiting\ntold\n");
  }
}

TEST_CASE("worker: a handler that crashes or hangs alone costs one run, and not the worker") {
  HandlerHouse it;
  const pid_t proper = it.worker.proper();
  auto beside = WorkerUnderTest::command(200, {"/bin/sh", "-c", "while [ ! -e " + it.worker.folder() + "/go ]; do sleep 0.02; done"});
  REQUIRE(it.worker.dispatch(beside) == "none");
  const auto crashed = it.end_of(HandlerHouse::alone(201, "crash"));
  CHECK(crashed.state == "failed");
  CHECK(crashed.reason == "signalled");
  CHECK(crashed.signal == SIGSEGV);
  const auto left = it.end_of(HandlerHouse::alone(202, "leave"));
  CHECK(left.reason == "exit_status");
  CHECK(left.exit_status == 5);
  for (const auto& [from, to] : {std::pair{210, 217}, std::pair{217, 220}}) {  // more than it has slots
    for (std::int64_t run = from; run < to; ++run) {
      CHECK(it.worker.dispatch(hanging(run, 1, kGrowingMs[1])) == "none");
    }
    for (std::int64_t run = from; run < to; ++run) {
      auto hung = it.master.outcome(run);
      if (hung.stdout_bytes == 0) hung = it.end_of(hanging(run, 2, kGrowingMs[3]));  // it had not begun
      CHECK(hung.state == "timed_out");
      CHECK(hung.signal == SIGKILL);
      CHECK(it.master.log(run, 1, hung.stdout_bytes) == "hanging\n");
    }
  }
  CHECK(it.end_of(HandlerHouse::alone(220, "tell")).state == "succeeded");
  CHECK(it.worker.proper() == proper);
  CHECK(it.worker.inventory().worker.incarnation == it.life.incarnation);
  CHECK_FALSE(it.master.has_outcome(200));
  REQUIRE(::system(("touch " + it.worker.folder() + "/go").c_str()) == 0);
  CHECK(it.master.outcome(200).state == "succeeded");
}

TEST_CASE("worker: an inside handler that ignores its cancel keeps its slot, and its late output belongs to no run") {
  HandlerHouse it;
  const std::string go = it.worker.folder() + "/go";
  auto item = WorkerUnderTest::handler(222, "deaf");
  item.__set_parameters({{"until", go}});
  item.__set_kill_grace_ms(50);
  thrift::Outcome lost;
  for (const std::int64_t timeout_ms : kGrowingMs) {
    item.__set_timeout_ms(timeout_ms);
    lost = it.end_of(item);
    if (lost.state == "kill_failed") break;  // else it was told before it had begun
    ++item.attempt.attempt;
  }
  CHECK(lost.state == "kill_failed");
  CHECK(lost.reason == "kill_unproven");
  REQUIRE(::system(("touch " + go).c_str()) == 0);
  for (std::int64_t run = 223; run < 243; ++run) {
    CHECK(it.end_of(WorkerUnderTest::handler(run, "tell")).state == "succeeded");
  }
  for (std::int64_t run = 243; run < 250; ++run) CHECK(it.worker.dispatch(HandlerHouse::alone(run, "hang")) == "none");
  CHECK(it.worker.dispatch(HandlerHouse::alone(250, "hang")) == "no_slot");
  for (std::int64_t run = 243; run < 250; ++run) it.worker.cancel(run, Millis{0});
  for (std::int64_t run = 243; run < 250; ++run) CHECK(it.master.outcome(run).state == "killed");
  const auto is_home = [&] { return names_in(it.worker.folder() + "/state/spool").value_or(Names{"?"}).empty(); };
  CHECK(eventually(is_home));
}

TEST_CASE("worker: a handler in its own process outlives a crash of the proper, and its own result is reported") {
  HandlerHouse it;
  auto item = HandlerHouse::alone(230, "yield");
  item.__set_kill_grace_ms(kPatience.count());
  REQUIRE(it.worker.dispatch(item) == "none");
  REQUIRE(it.master.wait_log(230, 1, "waiting"));
  ::kill(it.worker.proper(), SIGKILL);
  REQUIRE(!it.worker.join(it.master, 1, it.life.incarnation).incarnation.empty());
  CHECK_FALSE(it.master.has_outcome(230));
  item.attempt.run = 231;
  item.work.__set_handler("refuse");
  CHECK(it.end_of(item).reason == "handler_failed");
  it.worker.cancel(230, kPatience);
  const auto outcome = it.master.outcome(230);
  CHECK(outcome.state == "killed");
  CHECK(it.master.log(230, 1, outcome.stdout_bytes) == "waiting\ntold\n");
}

TEST_CASE("worker: a lock is held by one run at a time, inside of the worker or alone") {
  HandlerHouse it;
  const std::string go = it.worker.folder() + "/go";
  const std::string patience = std::to_string(kPatience.count());
  auto first = WorkerUnderTest::handler(240, "hold");
  first.__set_parameters({{"until", go}});
  REQUIRE(it.worker.dispatch(first) == "none");
  REQUIRE(it.master.wait_log(240, 1, "in"));
  auto second = HandlerHouse::alone(241, "hold");
  second.__set_parameters({{"until", go}, {"wait_ms", patience}});
  REQUIRE(it.worker.dispatch(second) == "none");
  for (const bool is_alone : {false, true}) {
    auto refused = is_alone ? HandlerHouse::alone(243, "hold") : WorkerUnderTest::handler(242, "hold");
    refused.__set_parameters({{"wait_ms", "0"}});
    const auto outcome = it.end_of(refused);
    CHECK(outcome.reason == "handler_failed");
    CHECK(outcome.message == "the lock 'door' is held by run 240, attempt 1, of job on w1");
  }
  CHECK_FALSE(it.master.has_outcome(241));
  REQUIRE(::system(("touch " + go).c_str()) == 0);
  const auto one = it.master.outcome(240);
  const auto two = it.master.outcome(241);
  CHECK(one.state == "succeeded");
  CHECK(two.state == "succeeded");
  CHECK(std::stoll(two.result) > std::stoll(one.result));
  SUBCASE("a holder that dies frees it with its session") {
    auto dies = HandlerHouse::alone(244, "hold");
    dies.__set_parameters({{"die", "yes"}});
    CHECK(it.end_of(dies).signal == SIGKILL);
    auto next = WorkerUnderTest::handler(245, "hold");
    next.__set_parameters({{"until", go}, {"wait_ms", patience}});
    CHECK(std::stoll(it.end_of(next).result) > std::stoll(two.result));
  }
}

}  // namespace rota::testing
