// From what the warden saw to the outcome that is reported. Pure.
#pragma once

#include <string>

#include "common/model/job.h"
#include "common/model/run.h"
#include "worker/run/progress_lines.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// Final lengths of the attempt's streams in the log, and what was lost on the way.
struct OutputTotals {
  std::int64_t stdout_bytes = 0;
  std::int64_t stderr_bytes = 0;
  std::int64_t lost_bytes = 0;   ///< could not be kept (full disk), not counting the output cap
};

/// Who asked for the end decides first (timed out, killed, lost with its vouchers), then how the
/// process ended. Ended without proof is KillFailed, whatever else is known (P15).
/// `excess`: which limit was passed, for an end that a limit brought. The message ends with the steps of
/// the kill ladder that were done, counted from the start.
model::Outcome outcome_of(const warden::Ended& ended, const OutputTotals& output,
                          const std::string& excess = {});

/// A script whose interpreter could not be started: the message names the interpreter and the remedy,
/// instead of a program that the job's author never wrote. Empty: no script.
void name_interpreter(model::Outcome& outcome, const warden::Ended& ended,
                      const std::string& interpreter);

/// A handler in a process of its own that ended as it should and failed: in its own words, as if it had
/// run inside of the worker. `said` keeps the rest.
void say_handler_failure(model::Outcome& outcome, Said& said);

/// What the job said of itself: its result value; the message of its own failure in place of ours; and how
/// many of its lines were not understood.
void add_told(model::Outcome& outcome, Said said, std::int64_t bad_lines,
              const std::string& first_bad);

/// A limit that only the kernel can hold, and that it did not hold here: the message says so, however the
/// attempt ended.
void say_unheld(model::Outcome& outcome, const warden::Ended& ended, const model::JobLimits& limits,
                const warden::KernelLimits& held);

}  // namespace rota::worker::run
