// Programs that do not want to end, or that stop.
#include <doctest/doctest.h>
#include <signal.h>

#include "test/nasty/nasty_worker.h"

namespace rota::testing {

namespace {
/// Runs into its timeout; the steps of the ladder must stand in the record.
void run_out_of_time(NastyWorker& it, std::vector<std::string> argv, bool is_killed = true) {
  auto item = it.item(std::move(argv));
  item.__set_timeout_ms(400);
  item.__set_kill_grace_ms(150);
  const auto outcome = it.expect(it.start(item), timed_out());
  CHECK(outcome.message.find("TERM after 0.4") != std::string::npos);
  CHECK((outcome.message.find("KILL after") != std::string::npos) == is_killed);
  CHECK(outcome.message.find("empty after") != std::string::npos);
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
  auto item = it.item(by_sh("trap 'echo clean; exit 0' TERM; while :; do sleep 0.01; done"));
  item.__set_timeout_ms(300);
  item.__set_kill_grace_ms(5000);
  const auto run = it.start(item);
  const auto outcome = it.expect(run, {"timed_out", "attempt_timeout", 0, 0});
  CHECK(outcome.message.find("KILL") == std::string::npos);
  CHECK(it.text(run, 1, 6) == "clean\n");
}

TEST_CASE("nasty: a fork bomb that is cancelled") {
  NastyWorker it;
  const auto run = it.start(by_sh("trap '' TERM; f() { sleep 0.05; (f &) ; f & sleep 600; }; f"));
  CHECK(it.master().wait_started(run));
  it.worker().cancel(run, Millis{300});
  it.expect(run, {"killed", "cancelled_by_user", -1, -1});
}

}  // namespace rota::testing
