#include "worker/run/end_rules.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>

namespace rota::worker::run {

namespace {
using model::Reason;
using model::RunState;
using warden::KilledBy;

warden::Ended an_end() {
  warden::Ended ended;
  ended.proven_empty = true;
  return ended;
}
}  // namespace

TEST_CASE("end_rules: the process's own end") {
  warden::Ended ended = an_end();
  ended.exit_status = 0;
  CHECK(outcome_of(ended, {}).state == RunState::Succeeded);
  ended.exit_status = 3;
  const auto failed = outcome_of(ended, {10, 20, 0});
  CHECK(failed.state == RunState::Failed);
  CHECK(failed.reason == Reason::ExitStatus);
  CHECK(failed.exit_status == 3);
  CHECK(failed.stdout_bytes == 10);
  CHECK(failed.stderr_bytes == 20);
  ended.exit_status = -1;
  ended.signal = SIGSEGV;
  ended.core = true;
  const auto crashed = outcome_of(ended, {});
  CHECK(crashed.reason == Reason::Signalled);
  CHECK(crashed.message == "ended by signal 11 (SIGSEGV), core dumped");
}

TEST_CASE("end_rules: who asked for the end comes first, even when the process then exits with 0") {
  warden::Ended ended = an_end();
  ended.exit_status = 0;
  ended.killed_by = KilledBy::Timeout;
  CHECK(outcome_of(ended, {}).state == RunState::TimedOut);
  ended.killed_by = KilledBy::Cancel;
  CHECK(outcome_of(ended, {}).state == RunState::Killed);
  ended.killed_by = KilledBy::Voucher;
  CHECK(outcome_of(ended, {}).state == RunState::Lost);
  CHECK(outcome_of(ended, {}).reason == Reason::WorkerLost);
  ended.killed_by = KilledBy::Stop;
  CHECK(outcome_of(ended, {}).reason == Reason::AttemptDied);
}

TEST_CASE("end_rules: a start that failed says where and why") {
  warden::Ended ended;
  ended.failed_step = warden::StartStep::Exec;
  ended.error = ENOENT;
  ended.detail = "exec no-such";
  const auto outcome = outcome_of(ended, {});
  CHECK(outcome.state == RunState::Failed);
  CHECK(outcome.reason == Reason::StartFailed);
  CHECK(outcome.message == "exec no-such: No such file or directory");
  ended.detail = "no-such: No such file or directory";  // says why already
  CHECK(outcome_of(ended, {}).message == "no-such: No such file or directory");
  ended.failed_step = warden::StartStep::Refused;
  CHECK(outcome_of(ended, {}).reason == Reason::RefusedByWorker);
}

TEST_CASE("end_rules: a missing interpreter is named, with the remedy") {
  warden::Ended ended;
  ended.failed_step = warden::StartStep::Exec;
  ended.error = ENOENT;
  ended.detail = "node: No such file or directory";
  auto outcome = outcome_of(ended, {});
  name_interpreter(outcome, ended, "");
  CHECK(outcome.message == "node: No such file or directory");
  name_interpreter(outcome, ended, "node");
  CHECK(outcome.message.find("interpreter 'node' was not found on this worker; install it") !=
        std::string::npos);
  ended.error = E2BIG;
  outcome = outcome_of(ended, {});
  name_interpreter(outcome, ended, "node");
  CHECK(outcome.message.find("interpreter") == std::string::npos);
}

TEST_CASE("end_rules: a handler's failure is told in its words, and its crash in ours") {
  warden::Ended ended = an_end();
  ended.exit_status = 1;
  Said said;
  said.failure = "no such customer";
  auto outcome = outcome_of(ended, {});
  say_handler_failure(outcome, said);
  add_told(outcome, said, 0, {});
  CHECK(outcome.state == RunState::Failed);
  CHECK(outcome.reason == Reason::HandlerFailed);
  CHECK(outcome.message == "no such customer");
  said.failure = "the last words";
  ended.exit_status = -1;
  ended.signal = SIGSEGV;
  outcome = outcome_of(ended, {});
  say_handler_failure(outcome, said);
  CHECK(outcome.reason == Reason::Signalled);
}

TEST_CASE("end_rules: killed but not proven dead is told as it is") {
  warden::Ended ended = an_end();
  ended.proven_empty = false;
  ended.killed_by = KilledBy::Cancel;
  const auto outcome = outcome_of(ended, {});
  CHECK(outcome.state == RunState::KillFailed);
  CHECK(outcome.reason == Reason::KillUnproven);
}

TEST_CASE("end_rules: output that could not be kept is mentioned") {
  warden::Ended ended = an_end();
  ended.exit_status = 0;
  CHECK(outcome_of(ended, {0, 0, 7}).message == "7 bytes of output could not be kept");
}

TEST_CASE("end_rules: a limit is told by its name, with how far it was passed") {
  warden::Ended ended = an_end();
  ended.signal = 9;
  ended.killed_by = KilledBy::Memory;
  const auto known = outcome_of(ended, {}, "used 70 MiB of memory, 64 MiB are allowed");
  CHECK(known.state == RunState::Failed);
  CHECK(known.reason == Reason::MemoryExceeded);
  CHECK(known.message == "used 70 MiB of memory, 64 MiB are allowed");
  ended.killed_by = KilledBy::Folder;
  CHECK(outcome_of(ended, {}).message == "used more disk than allowed");
  ended.killed_by = KilledBy::None;
  ended.signal = SIGXFSZ;
  CHECK(outcome_of(ended, {}).reason == Reason::FileSizeExceeded);
  ended.signal = SIGXCPU;
  CHECK(outcome_of(ended, {}).reason == Reason::CpuExceeded);
}

TEST_CASE("end_rules: the steps of the kill ladder stand in the message, counted from the start") {
  warden::Ended ended = an_end();
  ended.started = MonoTime{Micros{5'000'000}};
  ended.killed_by = KilledBy::Timeout;
  ended.term_at = ended.started + Millis{1000};
  ended.kill_at = ended.started + Millis{1300};
  ended.empty_at = ended.started + Micros{1'302'400};
  CHECK(outcome_of(ended, {}).message ==
        "ran longer than its timeout; TERM after 1.000 s, KILL after 1.300 s, empty after 1.302 s");
  ended.proven_empty = false;
  ended.empty_at = MonoTime{};
  const auto unproven = outcome_of(ended, {});
  CHECK(unproven.state == RunState::KillFailed);
  CHECK(unproven.message == "not seen empty in time; TERM after 1.000 s, KILL after 1.300 s");
}

TEST_CASE("end_rules: a host that stood still is told, with how long it ran after that, and no guess is") {
  warden::Ended ended = an_end();
  ended.signal = SIGKILL;
  ended.killed_by = KilledBy::Voucher;
  ended.started = MonoTime{Millis{1000}};
  ended.ended = MonoTime{Millis{9020}};
  ended.ended_wall = wall_from_ms(1'700'000'009'020);
  ended.still_from = MonoTime{Millis{6000}};
  ended.still_to = MonoTime{Millis{9000}};
  CHECK_FALSE(outcome_of(ended, {}).stood_still.has_value());
  SUBCASE("keeper and warden alike") {
    ended.still = warden::Still::All;
    const auto told = outcome_of(ended, {});
    CHECK(told.state == RunState::Lost);
    REQUIRE(told.stood_still.has_value());
    CHECK(told.stood_still->from == wall_from_ms(1'700'000'006'000));
    CHECK(told.stood_still->to == wall_from_ms(1'700'000'009'000));
    CHECK(told.message.find("stood still from") != std::string::npos);
    CHECK(told.message.find("for 3000 ms, and nothing of it ran; it ended 20 ms after that") != std::string::npos);
  }
  SUBCASE("the warden alone") {
    ended.still = warden::Still::WardenAlone;
    const auto told = outcome_of(ended, {});
    CHECK_FALSE(told.stood_still.has_value());
    CHECK(told.message.find("the warden alone stood still") != std::string::npos);
  }
  SUBCASE("without a keeper nobody knows") {
    ended.still = warden::Still::Unknown;
    const auto told = outcome_of(ended, {});
    CHECK_FALSE(told.stood_still.has_value());
    CHECK(told.message.find("is not known") != std::string::npos);
  }
}

TEST_CASE("end_rules: a share of cores that nobody held is told, however the attempt ended") {
  model::JobLimits limits;
  limits.milli_cpus = 250;
  warden::Ended ended = an_end();
  ended.exit_status = 0;
  auto outcome = outcome_of(ended, {});
  say_unheld(outcome, ended, limits, {true, true, true});
  say_unheld(outcome, ended, {}, {});
  CHECK(outcome.message.empty());
  say_unheld(outcome, ended, limits, {true, true, false});
  CHECK(outcome.message == "cpus: 0.25 was not held: the kernel gives this worker no cpu controller");
  ended.exit_status = 3;
  outcome = outcome_of(ended, {});
  say_unheld(outcome, ended, limits, {});
  CHECK(outcome.message.starts_with("exit status 3; cpus: 0.25 was not held"));
  ended.failed_step = warden::StartStep::Exec;
  outcome = outcome_of(ended, {});
  say_unheld(outcome, ended, limits, {});
  CHECK(outcome.message.find("cpus") == std::string::npos);
}

}  // namespace rota::worker::run
