#include <doctest/doctest.h>
#include <signal.h>

#include <functional>

#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

namespace {

/// A worker that has joined, for the cases that need no other.
struct Joined {
  FakeMaster master;
  WorkerUnderTest worker;
  model::WorkerKey life;
  explicit Joined(WorkerSettings settings = {}) : worker(std::move(settings)) {
    worker.start();
    life = worker.join(master);
    REQUIRE_MESSAGE(!life.incarnation.empty(), worker.log_text());
  }
};

std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

/// Keeps the slots full until `count` runs have ended well. A refused attempt is refused for good,
/// so the next try of its run is the next attempt, as a leader does it.
std::int64_t runs_per_second(Joined& it, std::int64_t first, int count,
                             const std::function<thrift::DispatchItem(std::int64_t)>& make) {
  const MonoTime begun = BootClock::now();
  std::vector<thrift::DispatchItem> wanted;
  std::vector<thrift::AttemptKey> accepted;
  for (int i = count - 1; i >= 0; --i) wanted.push_back(make(first + i));
  while (!wanted.empty()) {
    const auto batch = static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, wanted.size()));
    std::vector<thrift::DispatchItem> items(wanted.end() - batch, wanted.end());
    wanted.erase(wanted.end() - batch, wanted.end());
    const auto answers = it.worker.dispatch_all(items);
    if (answers.empty()) wanted.insert(wanted.end(), items.begin(), items.end());  // no answer: once more
    for (std::size_t i = answers.size(); i-- > 0;) {
      if (answers[i] == "none") {
        accepted.push_back(items[i].attempt);
        continue;
      }
      ++items[i].attempt.attempt;
      wanted.push_back(items[i]);
    }
  }
  int succeeded = 0;
  for (const thrift::AttemptKey& key : accepted) {
    succeeded += it.master.outcome(key.run, kPatience, key.attempt).state == "succeeded";
  }
  CHECK(succeeded == count);
  const Millis took = floor_ms(BootClock::now() - begun);
  return 1000 * count / std::max<std::int64_t>(took.count(), 1);
}

}  // namespace

TEST_CASE("worker: runs commands and reports how they ended") {
  Joined it;
  SUBCASE("exit status, output of both streams, who it is") {
    auto item = WorkerUnderTest::command(
        10, shell("echo \"$ROTA_RUN_ID $ROTA_ATTEMPT $ROTA_EPOCH $ROTA_PARAM_WHO\"; echo no >&2; exit 3"));
    item.parameters["who"] = "you";
    CHECK(it.worker.dispatch(item) == "none");
    const auto outcome = it.master.outcome(10);
    CHECK(outcome.state == "failed");
    CHECK(outcome.reason == "exit_status");
    CHECK(outcome.exit_status == 3);
    CHECK(outcome.stdout_bytes == 11);
    CHECK(it.master.log(10, 1, 11) == "10 1 1 you\n");
    CHECK(it.master.log(10, 2, 3) == "no\n");
    CHECK(it.master.reported_life(10) == it.life.incarnation);
  }
  SUBCASE("a signal") {
    CHECK(it.worker.dispatch(WorkerUnderTest::command(11, shell("kill -SEGV $$"))) == "none");
    const auto outcome = it.master.outcome(11);
    CHECK(outcome.state == "failed");
    CHECK(outcome.reason == "signalled");
    CHECK(outcome.signal == SIGSEGV);
  }
  SUBCASE("a program that does not exist") {
    CHECK(it.worker.dispatch(WorkerUnderTest::command(12, {"no-such-program"})) == "none");
    const auto outcome = it.master.outcome(12);
    CHECK(outcome.state == "failed");
    CHECK(outcome.reason == "start_failed");
    CHECK(outcome.message.find("No such file") != std::string::npos);
  }
  SUBCASE("a script for an interpreter") {
    auto item = WorkerUnderTest::command(13, {});
    item.work.__set_script("set -e\ncd \"$ROTA_WORK_FOLDER\"\npwd > here\ncat here | wc -l\n");
    item.work.__set_interpreter("/bin/sh -u");
    CHECK(it.worker.dispatch(item) == "none");
    CHECK(it.master.outcome(13).state == "succeeded");
    CHECK(it.master.log(13, 1, 2) == "1\n");
  }
  SUBCASE("scripts for other interpreters, and one that is not there") {
    const std::pair<std::string, std::string> scripts[] = {
        {"bash", "[[ -O $0 && $(stat -c %a \"$0\") == 700 ]] && echo ok"},
        {"python3", "import os\nprint('ok' if os.environ['ROTA_RUN_ID'] else '')\n"},
        {"/usr/bin/perl -w", "use strict; print \"ok\\n\";"}};
    std::int64_t run = 100;
    for (const auto& script : scripts) {  // no message accepts a structured binding under clang
      auto item = WorkerUnderTest::command(++run, {});
      item.work.__set_script(script.second);
      item.work.__set_interpreter(script.first);
      CHECK(it.worker.dispatch(item) == "none");
      CHECK_MESSAGE(it.master.outcome(run).state == "succeeded", script.first);
      CHECK(it.master.log(run, 1, 3) == "ok\n");
    }
    auto item = WorkerUnderTest::command(++run, {});
    item.work.__set_script("1");
    item.work.__set_interpreter("no-such-language --fast");
    CHECK(it.worker.dispatch(item) == "none");
    const auto outcome = it.master.outcome(run);
    CHECK(outcome.reason == "start_failed");
    CHECK(outcome.message.find("interpreter 'no-such-language' was not found") != std::string::npos);
  }
  SUBCASE("the timeout, of one that ignores TERM and forks away") {
    auto item = WorkerUnderTest::command(
        14, shell("trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 600' &) ; echo deaf; sleep 600"));
    thrift::Outcome outcome;
    for (const std::int64_t timeout_ms : kGrowingMs) {
      item.__set_timeout_ms(timeout_ms);
      CHECK(it.worker.dispatch(item) == "none");
      outcome = it.master.outcome(14, kPatience, item.attempt.attempt);
      if (outcome.stdout_bytes > 0) break;  // it had come to its trap
      ++item.attempt.attempt;
    }
    CHECK(outcome.state == "timed_out");
    CHECK(outcome.reason == "attempt_timeout");
    CHECK(outcome.signal == SIGKILL);
  }
  SUBCASE("cancel") {
    CHECK(it.worker.dispatch(WorkerUnderTest::command(15, shell("echo up; exec sleep 600"))) == "none");
    CHECK(it.master.wait_log(15, 1, "up"));
    it.worker.cancel(15, Millis{2000});
    const auto outcome = it.master.outcome(15);
    CHECK(outcome.state == "killed");
    CHECK(outcome.signal == SIGTERM);
  }
  CHECK(it.master.bad_chunks() == 0);
}

TEST_CASE("worker: brings 20 MB of bytes home unaltered, while the run goes on") {
  Joined it;
  // Every byte value, no newline: line i of 256 bytes is rotated by i.
  const std::string program =
      "import os,sys\n"
      "b=bytes(range(256))\n"
      "chunk=b''.join(b[i:]+b[:i] for i in range(256))\n"
      "for n in range(320): os.write(1,chunk)\n"
      "os.write(2,b'done')\n"
      "sys.stdin.read()\n";
  CHECK(it.worker.dispatch(WorkerUnderTest::command(20, {"/usr/bin/python3", "-c", program})) ==
        "none");
  std::string expected;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) expected += static_cast<char>((i + j) % 256);
  }
  const auto length = static_cast<std::int64_t>(expected.size()) * 320;
  const std::string got = it.master.log(20, 1, length);
  REQUIRE(static_cast<std::int64_t>(got.size()) == length);
  bool is_equal = true;
  for (std::size_t at = 0; at < got.size(); at += expected.size()) {
    is_equal = is_equal && got.compare(at, expected.size(), expected) == 0;
  }
  CHECK(is_equal);
  CHECK(it.master.outcome(20).stdout_bytes == length);
  CHECK(it.master.bad_chunks() == 0);
}

TEST_CASE("worker: keeps head and tail of what exceeds the cap and counts the middle") {
  Joined it;
  auto item = WorkerUnderTest::command(
      30, shell("i=0; while [ $i -lt 100000 ]; do echo \"line $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"; i=$((i+1)); done"));
  item.work.__set_output_cap_bytes(1 << 20);
  CHECK(it.worker.dispatch(item) == "none");
  const auto outcome = it.master.outcome(30);
  CHECK(outcome.state == "succeeded");
  const std::string log = it.master.log(30, 1, 1 << 20);
  CHECK(log.starts_with("line 0 "));
  CHECK(log.ends_with("line 99999 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"));
  std::int64_t printed = 0;
  for (int i = 0; i < 100000; ++i) printed += 39 + static_cast<int>(std::to_string(i).size());
  CHECK(outcome.stdout_bytes == printed);
  CHECK(log.size() == 1 << 20);
  CHECK(it.master.dropped(30, 1) == printed - (1 << 20));
}

TEST_CASE("worker: refuses what it must not start") {
  Joined it;
  const auto held = WorkerUnderTest::command(40, shell("exec sleep 600"));
  CHECK(it.worker.dispatch(held) == "none");
  SUBCASE("a repeat starts nothing new") {
    CHECK(it.worker.dispatch(held) == "none");
    CHECK(it.worker.inventory().attempts.size() == 1);
  }
  SUBCASE("an older epoch, also after a restart of the proper") {
    REQUIRE(it.worker.hello(it.master, 7));
    CHECK(it.worker.dispatch(WorkerUnderTest::command(41, {"true"}), 6) == "old_epoch");
    ::kill(it.worker.proper(), SIGKILL);
    REQUIRE(!it.worker.join(it.master, 7, it.life.incarnation).incarnation.empty());
    CHECK(it.worker.dispatch(WorkerUnderTest::command(41, {"true"}), 6) == "old_epoch");
    CHECK(it.worker.hello(it.master, 6)->highest_epoch == 7);
  }
  SUBCASE("an unknown handler, an empty command") {
    CHECK(it.worker.dispatch(WorkerUnderTest::handler(42, "nobody")) == "unknown_handler");
    CHECK(it.worker.dispatch(WorkerUnderTest::command(43, {})) == "malformed");
  }
  SUBCASE("more than its slots") {
    std::vector<thrift::DispatchItem> many;
    for (int i = 0; i < 8; ++i) many.push_back(WorkerUnderTest::command(50 + i, {"sleep", "600"}));
    const auto answers = it.worker.dispatch_all(many);
    CHECK(std::count(answers.begin(), answers.end(), "none") == 7);
    CHECK(answers.back() == "no_slot");
  }
}

TEST_CASE("worker: runs handlers of its own in its process") {
  Joined it({.id = "w1", .binary = ROTA_HELLO_WORKER, .extra_yaml = {}});
  SUBCASE("lines, a result, parameters") {
    auto item = WorkerUnderTest::handler(60, "hello");
    item.parameters["name"] = "you";
    item.parameters["times"] = "2";
    CHECK(it.worker.dispatch(item) == "none");
    const auto outcome = it.master.outcome(60);
    CHECK(outcome.state == "succeeded");
    CHECK(outcome.result == "greeted 2 times");
    CHECK(it.master.log(60, 1, outcome.stdout_bytes) == "hello, you (1)\nhello, you (2)\n");
  }
  SUBCASE("cancel and timeout") {
    auto late = WorkerUnderTest::handler(61, "sleep");
    late.parameters["for_ms"] = "60000";
    late.__set_timeout_ms(200);
    auto told = WorkerUnderTest::handler(62, "sleep");
    told.parameters["for_ms"] = "60000";
    for (auto* item : {&late, &told}) item->__set_kill_grace_ms(kPatience.count());
    CHECK(it.worker.dispatch(late) == "none");
    CHECK(it.worker.dispatch(told) == "none");
    it.worker.cancel(62, kPatience);
    CHECK(it.master.outcome(62).state == "killed");
    CHECK(it.master.outcome(61).state == "timed_out");
  }
  SUBCASE("1,000 that do nothing") {
    const auto noop = [](std::int64_t run) { return WorkerUnderTest::handler(run, "noop"); };
    MESSAGE("bench=worker_noop runs_per_s=" << runs_per_second(it, 1000, 1000, noop));
  }
}

TEST_CASE("worker: runs /bin/true as fast as possible") {
  Joined it;
  const auto nothing = [](std::int64_t run) { return WorkerUnderTest::command(run, {"/bin/true"}); };
  MESSAGE("bench=worker_true runs_per_s=" << runs_per_second(it, 2000, 2000, nothing));
}

}  // namespace rota::testing
