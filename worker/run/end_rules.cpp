#include "worker/run/end_rules.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "common/base/duration_text.h"

namespace rota::worker::run {

namespace {

using model::Outcome;
using model::Reason;
using model::RunState;
using warden::KilledBy;
using warden::StartStep;

std::string signal_text(std::int32_t signal, bool core) {
  const char* name = sigabbrev_np(signal);
  std::string text = "ended by signal " + std::to_string(signal);
  if (name != nullptr) text += std::string(" (SIG") + name + ")";
  return core ? text + ", core dumped" : text;
}

void say_failed_start(const warden::Ended& ended, Outcome& outcome) {
  outcome.state = RunState::Failed;
  outcome.reason =
      ended.failed_step == StartStep::Refused ? Reason::RefusedByWorker : Reason::StartFailed;
  outcome.message = ended.detail;
  if (ended.error == 0) return;
  const std::string why = std::strerror(ended.error);
  if (outcome.message.ends_with(why)) return;
  outcome.message += (outcome.message.empty() ? "" : ": ") + why;
}

void say_own_end(const warden::Ended& ended, Outcome& outcome) {
  if (ended.signal != 0) {
    outcome.state = RunState::Failed;
    outcome.reason = Reason::Signalled;
    outcome.message = signal_text(ended.signal, ended.core);
    // These come from the kernel for a limit, and almost never from anybody else.
    if (ended.signal == SIGXCPU) outcome.reason = Reason::CpuExceeded;
    if (ended.signal == SIGXFSZ) outcome.reason = Reason::FileSizeExceeded;
  } else if (ended.exit_status == 0) {
    outcome.state = RunState::Succeeded;
  } else {
    outcome.state = RunState::Failed;
    outcome.reason = Reason::ExitStatus;
    outcome.message = "exit status " + std::to_string(ended.exit_status);
  }
}

void say_limit(Reason reason, const char* what, const std::string& excess, Outcome& outcome) {
  outcome.state = RunState::Failed;
  outcome.reason = reason;
  outcome.message = excess.empty() ? std::string("used more ") + what + " than allowed" : excess;
}

void say_killed(const warden::Ended& ended, const std::string& excess, Outcome& outcome) {
  switch (ended.killed_by) {
    case KilledBy::Timeout:
      outcome.state = RunState::TimedOut;
      outcome.reason = Reason::AttemptTimeout;
      outcome.message = "ran longer than its timeout";
      break;
    case KilledBy::Cancel:
      outcome.state = RunState::Killed;
      outcome.reason = Reason::CancelledByUser;
      outcome.message = "cancelled";
      break;
    case KilledBy::Voucher:
      outcome.state = RunState::Lost;
      outcome.reason = Reason::WorkerLost;
      outcome.message = "killed: neither ZooKeeper nor the leader vouched for the worker any more";
      break;
    case KilledBy::Stop:
      outcome.state = RunState::Lost;
      outcome.reason = Reason::AttemptDied;
      outcome.message = "killed: the worker stopped";
      break;
    case KilledBy::Memory:
      return say_limit(Reason::MemoryExceeded, "memory", excess.empty() ? ended.detail : excess, outcome);
    case KilledBy::Processes: return say_limit(Reason::ProcessesExceeded, "processes", excess, outcome);
    case KilledBy::Cpu: return say_limit(Reason::CpuExceeded, "CPU time", excess, outcome);
    case KilledBy::Folder: return say_limit(Reason::FolderExceeded, "disk", excess, outcome);
    case KilledBy::None:
      break;
  }
}

/// "TERM after 1.000 s, KILL after 1.300 s, empty after 1.301 s": the steps that were done.
std::string ladder_text(const warden::Ended& ended) {
  std::string text;
  const auto step = [&](const char* name, MonoTime at) {
    if (at == MonoTime{}) return;
    const double seconds = static_cast<double>((at - ended.started).count()) / 1e6;
    text += fmt::format("{}{} after {:.3f} s", text.empty() ? "" : ", ", name, seconds);
  };
  step("TERM", ended.term_at);
  step("KILL", ended.kill_at);
  if (!text.empty()) step("empty", ended.empty_at);
  return text;
}

/// By the end's own clock: the two clocks of one moment.
WallTime wall_of(const warden::Ended& ended, MonoTime at) {
  return ended.ended_wall - floor_ms(ended.ended - at);
}

void say_still(const warden::Ended& ended, Outcome& outcome) {
  if (ended.still == warden::Still::None) return;
  const WallTime from = wall_of(ended, ended.still_from);
  const WallTime to = std::max(from, wall_of(ended, ended.still_to));
  const auto span = fmt::format("from {} for {} ms", format_moment(from), (to - from).count());
  if (ended.still == warden::Still::All) {
    outcome.stood_still = {from, to};
    const auto after = std::max<std::int64_t>((outcome.ended - to).count(), 0);
    outcome.message += fmt::format(
        "; its host stood still {}, and nothing of it ran; it ended {} ms after that", span, after);
  } else if (ended.still == warden::Still::WardenAlone) {
    outcome.message +=
        fmt::format("; the warden alone stood still {}: its keeper had ended it in time", span);
  } else {
    outcome.message +=
        fmt::format("; the warden stood still {}: whether it ran meanwhile is not known", span);
  }
}

}  // namespace

Outcome outcome_of(const warden::Ended& ended, const OutputTotals& output,
                   const std::string& excess) {
  Outcome outcome;
  outcome.exit_status = ended.exit_status;
  outcome.signal = ended.signal;
  outcome.started = ended.started_wall;
  outcome.ended = ended.ended_wall;
  outcome.cpu_us = ended.cpu_us;
  outcome.peak_memory_bytes = ended.peak_memory_bytes;
  outcome.read_bytes = ended.read_bytes;
  outcome.written_bytes = ended.written_bytes;
  outcome.stdout_bytes = output.stdout_bytes;
  outcome.stderr_bytes = output.stderr_bytes;
  if (ended.failed_step != StartStep::None) {
    say_failed_start(ended, outcome);
    return outcome;
  }
  say_own_end(ended, outcome);
  say_killed(ended, excess, outcome);
  if (!ended.proven_empty) {
    outcome.state = RunState::KillFailed;
    outcome.reason = Reason::KillUnproven;
    outcome.message = "not seen empty in time" + (ended.detail.empty() ? "" : ": " + ended.detail);
  }
  if (const std::string steps = ladder_text(ended); !steps.empty()) outcome.message += "; " + steps;
  say_still(ended, outcome);
  if (output.lost_bytes > 0) {
    outcome.message += outcome.message.empty() ? "" : "; ";
    outcome.message += std::to_string(output.lost_bytes) + " bytes of output could not be kept";
  }
  return outcome;
}

void say_handler_failure(Outcome& outcome, Said& said) {
  if (outcome.reason != Reason::ExitStatus || !said.failure) return;
  outcome.reason = Reason::HandlerFailed;
  outcome.message = std::move(*said.failure);
  said.failure.reset();
}

void add_told(Outcome& outcome, Said said, std::int64_t bad_lines, const std::string& first_bad) {
  if (said.result) outcome.result = std::move(*said.result);
  const bool failed_by_itself = outcome.reason == Reason::ExitStatus || outcome.reason == Reason::Signalled;
  if (said.failure && failed_by_itself) outcome.message = *said.failure + " (" + outcome.message + ")";
  if (bad_lines == 0) return;
  outcome.message += outcome.message.empty() ? "" : "; ";
  outcome.message += std::to_string(bad_lines) + " lines on ROTA_FD were not understood, the first " +
                     first_bad;
}

void name_interpreter(Outcome& outcome, const warden::Ended& ended, const std::string& interpreter) {
  if (interpreter.empty() || ended.failed_step != StartStep::Exec) return;
  if (ended.error != ENOENT && ended.error != EACCES && ended.error != ENOTDIR) return;
  outcome.message = "the script's interpreter '" + interpreter + "' " +
                    (ended.error == EACCES ? "may not be executed" : "was not found") +
                    " on this worker; install it, name it by its path, or use another pool (" +
                    std::strerror(ended.error) + ")";
}

void say_unheld(Outcome& outcome, const warden::Ended& ended, const model::JobLimits& limits,
                const warden::KernelLimits& held) {
  if (limits.milli_cpus == 0 || held.cpus || ended.failed_step != StartStep::None) return;
  outcome.message += fmt::format("{}cpus: {} was not held: the kernel gives this worker no cpu controller",
                                 outcome.message.empty() ? "" : "; ", limits.milli_cpus / 1000.0);
}

}  // namespace rota::worker::run
