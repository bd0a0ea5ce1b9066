// Programs that do not want to end, or that stop.
#include <doctest/doctest.h>
#include <signal.h>

#include "test/nasty/nasty_worker.h"

namespace rota::testing {

namespace {
/// Runs into its timeout; the record must contain the steps of the ladder.
void run_out_of_time(NastyWorker& it, const std::vector<std::string>& argv, bool is_killed = true) {
  thrift::Outcome outcome;
  const auto was = [&](const char* step) { return outcome.message.find(step) != std::string::npos; };
  for (const std::int64_t timeout_ms : kGrowingMs) {
    auto item = it.item(argv);
    item.__set_timeout_ms(timeout_ms);
    item.__set_kill_grace_ms(is_killed ? 150 : kPatience.count());
    outcome = it.expect(it.start(item), timed_out());
    CHECK(outcome.ended_ms - outcome.started_ms >= timeout_ms);
    if (!is_killed || was("KILL after")) break;  // otherwise TERM came before the program ignored it
  }
  CHECK(was("TERM after "));
  CHECK(was("KILL after") == is_killed);
  CHECK(was("empty after"));
  MESSAGE(outcome.message);
}
}  // namespace

TEST_CASE("nasty: deaf to every signal") {
  NastyWorker it;
  run_out_of_time(it, nasty("ignore_every_signal"));
}

TEST_CASE("nasty: sleeps through TERM with all its children") {
  NastyWorker it;
  run_out_of_time(it, by_sh("trap '' TERM HUP INT; (setsid sleep 600 &); sleep 600 & sleep 600"));
}

TEST_CASE("nasty: answers TERM with more children") {
  NastyWorker it;
  run_out_of_time(it, by_sh("trap 'for i in 1 2 3 4 5 6 7 8; do (setsid sh -c \"trap : TERM; sleep 600\" &);"
                            " done' TERM; while :; do sleep 0.01; done"));
}

TEST_CASE("nasty: stops itself") {
  NastyWorker it;
  run_out_of_time(it, by_sh("kill -STOP $$; exit 1"), false);
}

TEST_CASE("nasty: stops its whole group") {
  NastyWorker it;
  run_out_of_time(it, by_sh("sleep 600 & sleep 600 & kill -STOP 0; sleep 600"), false);
}

TEST_CASE("nasty: stops everybody, deaf to TERM") {
  NastyWorker it;
  run_out_of_time(it, by_sh("trap '' TERM; sleep 600 & kill -STOP -1; kill -STOP $$; while :; do :; done"));
}

TEST_CASE("nasty: cleans up in time, and is timed out all the same") {
  NastyWorker it;
  for (const std::int64_t timeout_ms : kGrowingMs) {
    auto item = it.item(by_sh("trap 'echo clean; exit 0' TERM; echo up; while :; do sleep 0.01; done"));
    item.__set_timeout_ms(timeout_ms);
    item.__set_kill_grace_ms(kPatience.count());
    const auto run = it.start(item);
    const auto outcome = it.expect(run, timed_out());
    if (outcome.stdout_bytes == 0) continue;  // TERM came before its trap
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.signal == 0);
    CHECK(outcome.message.find("KILL") == std::string::npos);
    CHECK(it.text(run, 1, 9) == "up\nclean\n");
    return;
  }
  FAIL("it never came to its trap");
}

TEST_CASE("nasty: a fork bomb that is cancelled") {
  NastyWorker it;
  const auto run = it.start(by_sh("trap '' TERM; f() { [ $1 -gt 0 ] || exec sleep 600; sleep 0.05; (f $(($1-1)) &);"
                                  " f $(($1-1)) & sleep 600; }; f 8"));
  CHECK(it.master().wait_started(run));
  it.worker().cancel(run, Millis{300});
  it.expect(run, {"killed", "cancelled_by_user", -1, -1});
}

}  // namespace rota::testing
